package wiki

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/scope"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// record appends the step to its session.
func (d *server) record(ctx context.Context, caller tool.Caller, v *Vault, opening error, st *step) (*sequent.Session, error) {
	engine := d.engine.Owned(caller.Owner)
	if st.Session == "" {
		if err := st.checkNew(); err != nil {
			return nil, err
		}
		if st.Parent != "" {
			if opening != nil {
				return nil, opening
			}
			if err := parentOpen(ctx, v, st.Parent); err != nil {
				return nil, err
			}
		}
		if err := st.checkEnd(); err != nil {
			return nil, err
		}
		if v != nil {
			if err := v.Notes.Room(ctx); err != nil {
				return nil, err
			}
		}
		return d.begin(ctx, engine, v, st)
	}
	id := sequent.ID(st.Session)
	s, err := engine.Update(ctx, id, st.apply)
	if !errors.Is(err, sequent.ErrNotFound) {
		return s, err
	}
	if opening != nil {
		return nil, opening
	}
	if err := d.adopt(ctx, engine, v, id, st); err != nil {
		return nil, err
	}
	return engine.Update(ctx, id, st.apply)
}

// begin appends the step to a new session.
func (d *server) begin(ctx context.Context, engine *sequent.Engine, v *Vault, st *step) (*sequent.Session, error) {
	newID := func() (sequent.ID, error) { return d.mint(engine.Now()) }
	return scope.Begin(ctx, engine, newID, func(c *sequent.Change) error {
		c.BeginIn("", name)
		if v != nil && v.ID != "" {
			c.SetLabel(thinking.LabelVault, v.ID)
		}
		if st.Parent != "" {
			c.SetLabel(thinking.LabelParent, st.Parent)
		}
		return st.append(c)
	})
}

// adopt restores a session that exists only as a note into the store. If the session
// would refuse the step, the store stays unchanged.
func (d *server) adopt(ctx context.Context, engine *sequent.Engine, v *Vault, id sequent.ID, st *step) error {
	h, log, err := v.Sessions.Session(ctx, id)
	if err != nil {
		return err
	}
	trial := sequent.New(sequent.Config{Now: engine.Now, Limits: engine.Limits()})
	if _, err := trial.Restore(ctx, h, log); err != nil {
		return err
	}
	if _, err := trial.Update(ctx, id, st.apply); err != nil {
		return err
	}
	_, err = engine.Restore(ctx, h, log)
	if errors.Is(err, sequent.ErrExists) {
		return nil // another call restored it
	}
	return err
}

// parentOpen refuses a parent that does not exist or is closed.
func parentOpen(ctx context.Context, v *Vault, id string) error {
	status, err := v.Workflows.Status(ctx, id)
	switch {
	case err != nil:
		return err
	case status == workflow.Absent:
		return errParentNotFound(id)
	case status.Closed():
		return errParentClosed(id)
	}
	return nil
}

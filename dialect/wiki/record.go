package wiki

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// record puts the step into the session that it means.
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

// begin puts the step into a new session.
func (d *server) begin(ctx context.Context, engine *sequent.Engine, v *Vault, st *step) (*sequent.Session, error) {
	const tries = 5 // one id in 90,000 is taken for each session begun in that millisecond
	for try := 1; ; try++ {
		id, err := d.mint(engine.Now())
		if err != nil {
			return nil, err
		}
		s, err := engine.Begin(ctx, id, func(c *sequent.Change) error {
			c.BeginIn("", name)
			if v != nil && v.ID != "" {
				c.SetLabel(labelVault, v.ID)
			}
			if st.Parent != "" {
				c.SetLabel(labelParent, st.Parent)
			}
			return st.append(c)
		})
		if !errors.Is(err, sequent.ErrExists) || try == tries {
			return s, err
		}
	}
}

// adopt takes a session into the store of which there is only a file. A call
// that the session would refuse leaves the store as it was.
func (d *server) adopt(ctx context.Context, engine *sequent.Engine, v *Vault, id sequent.ID, st *step) error {
	h, log, err := v.Files.Session(ctx, id)
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
		return nil // another call was faster, and the thought goes on from there
	}
	return err
}

// parentOpen refuses a workflow that a session cannot be part of.
func parentOpen(ctx context.Context, v *Vault, id string) error {
	open, err := v.Parents.Open(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		return errParentNotFound(id)
	case err != nil:
		return err
	case !open:
		return errParentClosed(id)
	}
	return nil
}

package history

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// ours is the label of sessions that this dialect began. Its value is their lifetime, for
// people.
//
// Only these expire by the TTL and are cleared by ClearAll. A session of another dialect
// does not expire because it is continued here.
const ours = "history"

// A recorder records calls in sessions.
type recorder struct {
	Config
	beside func(context.Context, *sequent.Change) error // nil does nothing
}

// newRecorder returns a recorder with the defaults of a Config.
func newRecorder(cfg Config, replyLimit int) *recorder {
	cfg.TTL, cfg.ReplyLimit = cmp.Or(cfg.TTL, defaultTTL), cmp.Or(cfg.ReplyLimit, replyLimit)
	return &recorder{Config: cfg}
}

// reply answers a call in JSON.
func (r *recorder) reply(ctx context.Context, e *sequent.Engine, in Input) (tool.Reply, error) {
	s, err := r.record(ctx, e, in)
	if err != nil {
		return table.Reply(err)
	}
	reply := in.output(s, r.Window).reply(r.ReplyLimit)
	reply.Beside = brief.Beside(s)
	return reply, nil
}

// record checks the call and records it in its session.
func (r *recorder) record(ctx context.Context, e *sequent.Engine, in Input) (*sequent.Session, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	change := r.change(ctx, e.Now(), "", in.draft())
	switch {
	case r.SessionID != "" && in.ClearSession:
		return renew(ctx, e, r.SessionID, change)
	case r.SessionID != "":
		return e.Ensure(ctx, r.SessionID, change)
	case in.SessionID == "":
		return r.begin(ctx, e, change)
	case in.ClearSession:
		return r.replace(ctx, e, in.SessionID, change)
	}
	s, err := e.Update(ctx, in.SessionID, change)
	if gone(err) {
		return r.begin(ctx, e, change)
	}
	return s, err
}

// change records the call in a change of its session. A session that it begins is begun
// in the scope.
func (r *recorder) change(ctx context.Context, now time.Time, scope string, d sequent.Draft) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		before := c.Session()
		if before.Version() == 0 {
			c.BeginIn(scope, name)
		}
		if _, err := c.Append(d); err != nil {
			return err
		}
		if r.beside != nil {
			if err := r.beside(ctx, c); err != nil {
				return err
			}
		}
		lifetime, expiry := "kept", time.Time{}
		if r.TTL >= 0 {
			lifetime, expiry = r.TTL.String(), now.Add(r.TTL)
		}
		switch {
		case before.Version() > 0 && before.Label(ours) == "":
			return nil
		case before.Label(ours) != lifetime:
			c.SetLabel(ours, lifetime)
		}
		c.ExpireAt(expiry)
		return nil
	}
}

func isOurs(h sequent.Header) bool { return h.Labels[ours] != "" }

// begin records the call in a new session with a new id.
func (r *recorder) begin(ctx context.Context, e *sequent.Engine, change func(*sequent.Change) error) (*sequent.Session, error) {
	return dialect.Begin(ctx, e, dialect.UUIDs(r.Rand, e.Now), change)
}

// replace records the call in a new session with a new id, and then removes the old
// session. After an error the old session is still there.
func (r *recorder) replace(ctx context.Context, e *sequent.Engine, old sequent.ID, change func(*sequent.Change) error) (*sequent.Session, error) {
	s, err := r.begin(ctx, e, change)
	if err != nil {
		return nil, err
	}
	return replaced(ctx, e, old, s)
}

// replaced removes the session that s replaces, and returns s.
func replaced(ctx context.Context, e *sequent.Engine, old sequent.ID, s *sequent.Session) (*sequent.Session, error) {
	ctx = context.WithoutCancel(ctx)
	if err := remove(ctx, e, old); err != nil && !gone(err) {
		// A refused call must not leave a session. If this deletion fails too, the
		// session expires.
		return nil, errors.Join(err, e.Delete(ctx, s.ID()))
	}
	return s, nil
}

// renew replaces a session by a new one with the same id.
//
// That takes two steps. All refusals but one happen before the first, so only a crash or an
// error of the store can come between them. The session is then empty, as requested, and
// the call can be repeated. If the owner exceeds a quota even without the old session, the
// new one is refused and the old one restored.
func renew(ctx context.Context, e *sequent.Engine, id sequent.ID, change func(*sequent.Change) error) (*sequent.Session, error) {
	trial := sequent.New(sequent.Config{Now: e.Now, Limits: e.Limits()})
	if _, err := trial.Begin(ctx, id, change); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	for {
		h, old, err := e.Entries(ctx, id, sequent.Position{})
		if err == nil {
			err = e.Delete(ctx, id)
		}
		if err != nil && !gone(err) {
			return nil, err
		}
		s, err := e.Begin(ctx, id, change)
		if sequent.CodeOf(err) == sequent.CodeQuotaExceeded && old != nil {
			_, failed := e.Restore(ctx, h, old)
			return nil, errors.Join(err, failed)
		}
		if !errors.Is(err, sequent.ErrExists) {
			return s, err
		}
	}
}

// remove deletes a session that this dialect began.
func remove(ctx context.Context, e *sequent.Engine, id sequent.ID) error {
	s, err := e.Session(ctx, id)
	if err != nil {
		return err
	}
	if !isOurs(s.Header()) {
		return notOurs(id)
	}
	return e.Delete(ctx, id)
}

func notOurs(id sequent.ID) error {
	return sequent.Errorf(sequent.CodeSessionNotFound, "sessionId", "", "the session %q was not begun by this tool", id)
}

// gone reports whether err means that the session does not exist.
func gone(err error) bool { return errors.Is(err, sequent.ErrNotFound) }

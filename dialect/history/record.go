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
	s, err := r.think(ctx, e, in)
	if err != nil {
		return table.Reply(err)
	}
	reply := in.output(s, r.Window).reply(r.ReplyLimit)
	reply.Beside = brief.Beside(s)
	return reply, nil
}

// think checks the call and records it in its session, or in a new one with a new id.
func (r *recorder) think(ctx context.Context, e *sequent.Engine, in Input) (*sequent.Session, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	change := r.change(ctx, e.Now(), "", in.draft())
	return in.record(ctx, e, r.SessionID, change, func() (*sequent.Session, error) {
		return dialect.Begin(ctx, e, dialect.UUIDs(r.Rand, e.Now), change)
	})
}

// record applies change to the pinned session or, without one, to the session of the call. If that
// is gone, was not named or is replaced, it calls begin, which applies change to a new session.
func (in Input) record(
	ctx context.Context, e *sequent.Engine, pinned sequent.ID,
	change func(*sequent.Change) error, begin func() (*sequent.Session, error),
) (*sequent.Session, error) {
	switch {
	case pinned != "" && in.ClearSession:
		return renew(ctx, e, pinned, change)
	case pinned != "":
		return e.Ensure(ctx, pinned, change)
	case in.SessionID != "" && !in.ClearSession:
		if s, err := e.Update(ctx, in.SessionID, change); !gone(err) {
			return s, err
		}
	}
	s, err := begin()
	if err != nil || in.SessionID == "" || !in.ClearSession {
		return s, err
	}
	ctx = context.WithoutCancel(ctx)
	if err := remove(ctx, e, in.SessionID); err != nil && !gone(err) {
		// A refused call must not leave a session. If this deletion fails too, the
		// session expires.
		return nil, errors.Join(err, e.Delete(ctx, s.ID()))
	}
	return s, nil
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

package history

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// A ToolConfig configures a [Tool]. The zero ToolConfig is useful: it keeps
// sessions in memory, each call naming its own.
type ToolConfig struct {
	// Engine keeps the sessions, of its owner. Tools that are to see the same
	// sessions share it. Nil means one of the tool's own, in memory.
	Engine *sequent.Engine
	// SessionID is the one session of all calls, owned by whoever chose it: it
	// is begun when it does not exist, and begun afresh under the same id when
	// a call clears it. Empty means that a call names its session, and that a
	// call which names none, or an unknown one, begins one.
	SessionID sequent.ID
	TTL       time.Duration // how long a session is kept after its last use; 0 means 30 minutes, negative for ever
	Window    int           // how many thoughts a reply holds, the last ones; 0 means all
	Rand      io.Reader     // where session ids come from; nil means crypto/rand
	// Beside is called in the change that records a thought, after it, and what
	// it does to the session is committed together with the thought. It keeps to
	// what [sequent.Engine.Update] says of change functions; if it returns an
	// error the thought is refused with it. Nil does nothing.
	Beside func(ctx context.Context, c *sequent.Change) error
}

// A Tool is the thinking tool for an agent in the same process. It is safe for
// concurrent use. Agents that think in sessions of their own do not affect each
// other.
//
// Think is for Go code. The methods of [tool.Function] are for a model's arguments:
// they tolerate what package tool describes, and answer a refusal with
// {"error": {"code": …, "message": …, "fix": …}}.
type Tool struct {
	*tool.Function
	recorder *recorder
	engine   *sequent.Engine
	tool     tool.Tool
	sweeper  *sweeper // nil if the engine is not the tool's own
}

// NewTool returns a tool.
func NewTool(cfg ToolConfig) *Tool {
	t := &Tool{engine: cfg.Engine, recorder: newRecorder(Config{
		SessionID: cfg.SessionID, TTL: cfg.TTL, Window: cfg.Window, Rand: cfg.Rand,
	})}
	t.recorder.beside = cfg.Beside
	if t.engine == nil {
		t.engine = sequent.New(sequent.Config{})
		t.sweeper = &sweeper{engine: t.engine, every: t.recorder.ttl}
	}
	t.tool = tool.New(spec(), func(ctx context.Context, _ tool.Call, in args) (tool.Reply, error) {
		t.sweeper.sweep(ctx)
		return t.recorder.reply(ctx, t.engine, in)
	}, reject)
	t.Function = t.tool.Function(tool.Caller{})
	return t
}

// Tool returns the tool as a value of package tool.
func (t *Tool) Tool() tool.Tool { return t.tool }

// OutputSchema returns the JSON Schema of the answers that are no refusals.
func (t *Tool) OutputSchema() json.RawMessage { return t.tool.OutputSchema }

// Think records a thought and returns the session so far. An error that can be
// corrected or repeated is a [*sequent.Error]; after any, nothing is changed.
func (t *Tool) Think(ctx context.Context, in Input) (Output, error) {
	t.sweeper.sweep(ctx)
	return t.recorder.think(ctx, t.engine, in)
}

// Session returns one of the tool's sessions: one that was begun by this tool,
// or by another or the dialect over the same engine, or that it is pinned to.
// The error for any other matches [sequent.ErrNotFound].
func (t *Tool) Session(ctx context.Context, id sequent.ID) (*sequent.Session, error) {
	s, err := t.engine.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	if !t.owns(s.Header()) {
		return nil, notOurs(id)
	}
	return s, nil
}

// Sessions yields all of the tool's sessions, newest first, as Session returns
// them. It ends after an error.
func (t *Tool) Sessions(ctx context.Context) iter.Seq2[*sequent.Session, error] {
	return func(yield func(*sequent.Session, error) bool) {
		for id, err := range t.ids(ctx) {
			var s *sequent.Session
			if err == nil {
				s, err = t.Session(ctx, id)
			}
			if gone(err) {
				continue // since it was listed
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Clear forgets one of the tool's sessions. The error for any other matches
// [sequent.ErrNotFound].
func (t *Tool) Clear(ctx context.Context, id sequent.ID) error {
	if _, err := t.Session(ctx, id); err != nil {
		return err
	}
	return t.engine.Delete(ctx, id)
}

// ClearAll forgets all of the tool's sessions, those of other tools over the same
// engine among them. It leaves the sessions of other owners and other dialects.
func (t *Tool) ClearAll(ctx context.Context) error {
	for id, err := range t.ids(ctx) {
		if err == nil {
			err = t.engine.Delete(ctx, id)
		}
		if err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// ids yields the ids of the tool's sessions, newest first.
func (t *Tool) ids(ctx context.Context) iter.Seq2[sequent.ID, error] {
	return func(yield func(sequent.ID, error) bool) {
		for h, err := range t.engine.AllSessions(ctx, sequent.Query{ByCreated: true}) {
			if (err != nil || t.owns(h)) && !yield(h.ID, err) {
				return
			}
		}
	}
}

func (t *Tool) owns(h sequent.Header) bool {
	return isOurs(h) || h.ID == t.recorder.pinned
}

// A sweeper takes expired sessions out of an engine that nobody else can reach.
type sweeper struct {
	engine *sequent.Engine
	every  time.Duration

	mu   sync.Mutex // guards last
	last time.Time
}

// sweep does so from time to time. What goes wrong is tried again.
func (s *sweeper) sweep(ctx context.Context) {
	if s == nil || s.every < 0 {
		return
	}
	now := s.engine.Now()
	s.mu.Lock()
	due := now.Sub(s.last) >= s.every
	if due {
		s.last = now
	}
	s.mu.Unlock()
	if due {
		_, _ = s.engine.Sweep(ctx) // an expired session is gone anyway
	}
}

package history

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// A ToolConfig configures a [Tool]. The zero ToolConfig is usable: it keeps sessions in
// memory, and calls name their session.
type ToolConfig struct {
	// Engine stores the sessions. Tools with the same engine share sessions. Nil means
	// a separate engine in memory.
	Engine *sequent.Engine
	// SessionID is the session of all calls. It is begun if it does not exist, and
	// replaced by a new one with the same id if a call clears it. Empty means that a
	// call names its session; a call with no or an unknown session begins one.
	SessionID sequent.ID
	TTL       time.Duration // lifetime of a session after its last use; 0 means 30 minutes, negative no limit
	Window    int           // number of latest thoughts in a reply; 0 means all
	Rand      io.Reader     // source of session ids; nil means crypto/rand
	// Beside is called in the change that records a thought, after the thought, and
	// committed with it. The rules of [sequent.Engine.Update] for change functions
	// apply. Its error refuses the thought. Nil does nothing.
	Beside func(ctx context.Context, c *sequent.Change) error
}

// A Tool is the thinking tool for an agent in the same process. It is safe for
// concurrent use. Agents with different sessions do not affect each other.
//
// Think is for Go code. The methods of [tool.Function] are for a model's arguments:
// they tolerate what package tool describes, and answer a refusal with
// {"error": {"code": …, "message": …, "fix": …}}.
type Tool struct {
	*tool.Function
	recorder *recorder
	engine   *sequent.Engine
	tool     tool.Tool
	own      bool         // only the tool has the engine
	swept    atomic.Int64 // when expired sessions were deleted last, in nanoseconds since 1970
}

// NewTool returns a tool.
func NewTool(cfg ToolConfig) *Tool {
	t := &Tool{engine: cfg.Engine, own: cfg.Engine == nil, recorder: newRecorder(Config{
		SessionID: cfg.SessionID, TTL: cfg.TTL, Window: cfg.Window, Rand: cfg.Rand,
	}, -1)}
	t.recorder.beside = cfg.Beside
	if t.own {
		t.engine = sequent.New(sequent.Config{})
	}
	t.tool = tool.New(tool.ParseFS(contract, "tool"), func(ctx context.Context, _ tool.Call, in Input) (tool.Reply, error) {
		t.sweep(ctx)
		return t.recorder.reply(ctx, t.engine, in)
	}, dialect.Reject)
	t.Function = t.tool.Function(tool.Caller{})
	return t
}

// Tool returns the tool as a value of package tool.
func (t *Tool) Tool() tool.Tool { return t.tool }

// OutputSchema returns the JSON Schema of replies that are not refusals.
func (t *Tool) OutputSchema() json.RawMessage { return t.tool.OutputSchema }

// Think records a thought and returns the session so far. An error that the caller can
// correct, or after which the call can be repeated, is a [*sequent.Error]. After any
// error nothing has changed.
func (t *Tool) Think(ctx context.Context, in Input) (Output, error) {
	t.sweep(ctx)
	s, err := t.recorder.think(ctx, t.engine, in)
	if err != nil {
		return Output{}, err
	}
	return in.output(s, t.recorder.Window), nil
}

// Session returns a session of the tool: one that a tool or the dialect began with the
// same engine, or SessionID. The error for other sessions matches [sequent.ErrNotFound].
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

// Sessions yields all sessions of the tool, newest first; see Session. It ends after an
// error.
func (t *Tool) Sessions(ctx context.Context) iter.Seq2[*sequent.Session, error] {
	return func(yield func(*sequent.Session, error) bool) {
		for id, err := range t.ids(ctx) {
			var s *sequent.Session
			if err == nil {
				s, err = t.Session(ctx, id)
			}
			if gone(err) {
				continue // deleted since it was listed
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Clear deletes a session of the tool. It does nothing if there is none with that id.
func (t *Tool) Clear(ctx context.Context, id sequent.ID) error {
	_, err := t.Session(ctx, id)
	if err == nil {
		err = t.engine.Delete(ctx, id)
	}
	if gone(err) {
		return nil
	}
	return err
}

// ClearAll deletes all sessions of the tool, including those of other tools with the same
// engine. It does not delete sessions of other owners and other dialects.
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

// ids yields the ids of the sessions of the tool, newest first.
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
	return isOurs(h) || h.ID == t.recorder.SessionID
}

// sweep deletes expired sessions from time to time, of an engine that only the tool has. It
// ignores errors and tries again: expired sessions are invisible anyway.
func (t *Tool) sweep(ctx context.Context) {
	if !t.own || t.recorder.TTL < 0 {
		return
	}
	now, last := t.engine.Now(), t.swept.Load()
	if now.UnixNano()-last >= int64(t.recorder.TTL) && t.swept.CompareAndSwap(last, now.UnixNano()) {
		_, _ = t.engine.Sweep(ctx, sequent.Query{AllOwners: true, Expired: now})
	}
}

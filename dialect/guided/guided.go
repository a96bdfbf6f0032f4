// Package guided is the dialect whose replies contain the next step: whether to
// continue, why, and with which arguments. An agent that follows them terminates from
// every state, also one that sends them word for word.
//
// The contract is in tool.json and tool.md, which are published byte for byte, and in
// the transcripts in testdata.
package guided

import (
	"context"
	"embed"
	"io"
	"log/slog"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// name is the name of the dialect, also in the headers of its sessions.
const name = "guided"

//go:embed tool.json tool.md
var contract embed.FS

// A Config configures the dialect.
type Config struct {
	Engine *sequent.Engine // required
	Rand   io.Reader       // source of session ids; nil means crypto/rand
	Logger *slog.Logger    // receives internal errors, never a thought; nil means discard
}

// A server has the state that all calls share.
type server struct {
	engine   *sequent.Engine
	scopes   *dialect.Scopes
	newID    func() (sequent.ID, error)
	logger   *slog.Logger
	refusals refusals
	empty    *sequent.Session // for calls that begin a session
}

// New returns the dialect. It panics if there is no engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("guided: Config needs an Engine")
	}
	d := &server{
		engine: cfg.Engine,
		scopes: dialect.NewScopes(cfg.Engine, name),
		newID:  dialect.ShortIDs(cfg.Rand),
		logger: cfg.Logger,
		empty:  emptySession(),
	}
	if d.logger == nil {
		d.logger = slog.New(slog.DiscardHandler)
	}
	return dialect.Dialect{
		Name:    name,
		Summary: "every reply says whether to go on, why, and with which arguments",
		Tools:   []tool.Tool{tool.NewTolerant(tool.ParseFS(contract, "tool"), d.call)},
		Prompts: []dialect.Prompt{prompt},
	}
}

// emptySession returns a session without thoughts.
func emptySession() *sequent.Session {
	s, err := sequent.New(sequent.Config{}).Begin(context.Background(), "empty", func(*sequent.Change) error { return nil })
	if err != nil {
		panic("guided: " + err.Error())
	}
	return s
}

// call answers a call. Every reply follows the contract, also after an error.
func (d *server) call(ctx context.Context, c tool.Call, in given, faults []*tool.ArgumentError) (tool.Reply, error) {
	limits := d.engine.Limits()
	if in.Branch != nil && *in.Branch == "" {
		in.Branch = nil
	}
	reason, words := validationError, described(faults)
	if words == "" {
		reason, words = in.check(limits)
	}
	switch {
	case c.Caller.Scope.Name == "": // no call would be accepted
		return d.refuse(ctx, c.Caller, in.complete(d.empty, limits), dialect.ErrScopeRequired), nil
	case words != "":
		return d.correct(c.Caller, in.complete(d.base(ctx, c.Caller, in), limits), reason, words), nil
	}
	call := in.complete(d.empty, limits)
	s, err := d.record(ctx, c.Caller, call)
	if err != nil {
		return d.refuse(ctx, c.Caller, call, err), nil
	}
	d.refusals.end(c.Caller)
	r := tool.JSONReply(call.next(limits.Thoughts > 0 && s.Len() >= limits.Thoughts))
	r.Beside = brief.Beside(s)
	return r, nil
}

// record records a call in the scope's session, or in the next one.
func (d *server) record(ctx context.Context, caller tool.Caller, in call) (*sequent.Session, error) {
	turn, err := d.scopes.Enter(ctx, caller)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	turn.Begins = in.Number == 1 && !in.Revision && !in.More && in.From == nil
	return turn.Record(ctx, d.newID, func(c *sequent.Change) error {
		draft := sequent.Draft{
			Number: in.Number, Total: in.Total, Text: in.Thought,
			Revision: in.Revision, Final: !in.Next && !in.More, Extend: in.More,
		}
		if in.From != nil {
			draft.Branch, draft.From = *in.Branch, sequent.To(*in.From)
		}
		_, err := c.Append(draft)
		return err
	})
}

// base returns the session that a refused call is completed from: the scope's current one,
// or an empty one if the call begins a session.
func (d *server) base(ctx context.Context, caller tool.Caller, in given) *sequent.Session {
	turn, err := d.scopes.Enter(ctx, caller)
	if err != nil {
		return d.empty
	}
	defer turn.Leave()
	id, err := turn.Current(ctx)
	if err != nil || id == "" {
		return d.empty
	}
	s, err := d.engine.Owned(caller.Owner).Session(ctx, id)
	if err != nil || in.plain() && (s.State() != sequent.Active || in.Number != nil && *in.Number <= 1) {
		return d.empty
	}
	return s
}

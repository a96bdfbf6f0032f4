// Package guided is the dialect whose replies contain the next step: whether to
// continue, why, and with which arguments. An agent that follows them terminates from
// every state.
//
// The contract is in tool.json and tool.md, which are published byte for byte, and in
// the transcripts in testdata.
package guided

import (
	"context"
	_ "embed" // for the contract
	"errors"
	"io"
	"log/slog"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/scope"
	"github.com/sequent-dev/sequent/dialect/shortid"
	"github.com/sequent-dev/sequent/tool"
)

// name is the name of the dialect, also in the headers of its sessions.
const name = "guided"

var (
	//go:embed tool.json
	specJSON []byte
	//go:embed tool.md
	specText []byte
)

// A Config configures the dialect.
type Config struct {
	Engine *sequent.Engine // required
	Rand   io.Reader       // source of session ids; nil means crypto/rand
	Logger *slog.Logger    // receives internal errors, never a thought; nil means discard
}

// A server has the state that all calls share.
type server struct {
	engine *sequent.Engine
	scopes *scope.Finder
	newID  func() (sequent.ID, error)
	logger *slog.Logger
	strict tool.Tool // enforces the published schema
	loose  tool.Tool // all arguments are optional

	required []required
	empty    *sequent.Session
}

// New returns the dialect. It panics if there is no engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("guided: Config needs an Engine")
	}
	d := &server{
		engine: cfg.Engine,
		scopes: scope.New(cfg.Engine.WithoutTexts(), name),
		newID:  shortid.New(cfg.Rand),
		logger: cfg.Logger,
	}
	if d.logger == nil {
		d.logger = slog.New(slog.DiscardHandler)
	}
	spec := tool.Parse(specJSON, specText)
	d.strict = tool.New(spec, d.think, misfit)
	d.loose = looseTool(spec)
	d.required = requiredOf(spec.InputSchema)
	d.empty = emptySession()
	return dialect.Dialect{
		Name:    name,
		Summary: "every reply says whether to go on, why, and with which arguments",
		Tools:   []tool.Tool{{Spec: spec, Call: d.call}},
		Prompts: []dialect.Prompt{prompt},
	}
}

// call answers a call. Every reply follows the contract, also after an error.
func (d *server) call(ctx context.Context, c tool.Call) (tool.Reply, error) {
	reply, err := d.strict.Call(ctx, c)
	if e, ok := errors.AsType[*tool.ArgumentError](err); ok {
		return d.reject(ctx, c, e), nil
	}
	return reply, err
}

// think answers a call whose arguments fit the schema.
func (d *server) think(ctx context.Context, c tool.Call, in args) (tool.Reply, error) {
	in.normalise()
	s, err := d.record(ctx, c.Caller, in)
	if err != nil {
		return d.refuse(ctx, in, err), nil
	}
	r := in.next(full(s, d.engine.Limits())).reply()
	r.Beside = brief.Beside(s)
	return r, nil
}

// record records the thought in the scope's session, or in the next one.
func (d *server) record(ctx context.Context, caller tool.Caller, in args) (*sequent.Session, error) {
	turn, err := d.scopes.Enter(caller)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	limits := d.engine.Limits()
	return turn.Record(ctx, d.newID, func(c *sequent.Change) error {
		if in.plain() && in.Number == 1 && c.Session().Len() > 0 {
			return scope.ErrNext
		}
		return in.apply(c, limits)
	})
}

// full reports whether a session has reached the maximum number of thoughts.
func full(s *sequent.Session, limits sequent.Limits) bool {
	return limits.Thoughts > 0 && s.Len() >= limits.Thoughts
}

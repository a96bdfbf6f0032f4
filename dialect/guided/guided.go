// Package guided is the dialect whose replies contain the next step: whether to
// continue, why, and with which arguments. An agent that follows them terminates from
// every state.
//
// The contract is in tool.json and tool.md, which are published byte for byte, and in
// the transcripts in testdata.
package guided

import (
	"context"
	"crypto/rand"
	_ "embed" // for the contract
	"errors"
	"io"
	"log/slog"

	"github.com/sequent-dev/sequent"
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
	rand   io.Reader
	logger *slog.Logger
	strict tool.Tool // enforces the published schema
	loose  tool.Tool // all arguments are optional
	empty  *sequent.Session
}

// New returns the dialect. It panics if there is no engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("guided: Config needs an Engine")
	}
	d := &server{
		engine: cfg.Engine,
		scopes: scope.New(cfg.Engine, name),
		rand:   cfg.Rand,
		logger: cfg.Logger,
	}
	if d.rand == nil {
		d.rand = rand.Reader
	}
	if d.logger == nil {
		d.logger = slog.New(slog.DiscardHandler)
	}
	spec := tool.Parse(specJSON, specText)
	d.strict = tool.New(spec, d.think, misfit)
	d.loose = looseTool(spec)
	d.empty = emptySession()
	return dialect.Dialect{
		Name:    name,
		Summary: "every reply says whether to go on, why, and with which arguments",
		Tools:   []tool.Tool{{Spec: spec, Call: d.call}},
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
	return in.next(full(s, d.engine.Limits())).reply(), nil
}

// errFinished means that the thought does not belong to the session.
var errFinished = errors.New("guided: the thought begins the next session")

// record records the thought in the scope's session, or in the next one.
func (d *server) record(ctx context.Context, caller tool.Caller, in args) (*sequent.Session, error) {
	turn, err := d.scopes.Enter(caller)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	engine := d.engine.Owned(caller.Owner)
	current, err := turn.Current(ctx)
	if err != nil {
		return nil, err
	}
	if current != "" {
		s, err := engine.Update(ctx, current, func(c *sequent.Change) error {
			s := c.Session()
			over := s.State() != sequent.Active || full(s, engine.Limits())
			if in.plain() && in.Number == 1 && over {
				return errFinished
			}
			return in.apply(c, engine.Limits())
		})
		// A session that was deleted or has expired is replaced like a completed one.
		if err != errFinished && !errors.Is(err, sequent.ErrNotFound) {
			return s, err
		}
	}
	return d.begin(ctx, engine, turn, in)
}

// begin records the thought in a new session, which becomes the scope's.
func (d *server) begin(ctx context.Context, engine *sequent.Engine, turn *scope.Turn, in args) (*sequent.Session, error) {
	const tries = 3 // the probability of a collision is 2^-60 per session
	for try := 1; ; try++ {
		id, err := shortid.New(d.rand)
		if err != nil {
			return nil, err
		}
		s, err := engine.Begin(ctx, id, func(c *sequent.Change) error {
			turn.Begin(c)
			return in.apply(c, engine.Limits())
		})
		if errors.Is(err, sequent.ErrExists) && try < tries {
			continue
		}
		if err == nil {
			turn.Began(id)
		}
		return s, err
	}
}

// full reports whether a session has reached the maximum number of thoughts.
func full(s *sequent.Session, limits sequent.Limits) bool {
	return limits.Thoughts > 0 && s.Len() >= limits.Thoughts
}

// Package guided is the dialect whose replies tell the agent what to do next:
// whether to go on, why, and with which arguments. An agent that follows them
// comes to an end from every state.
//
// The contract is in tool.json and tool.md, which are published as they stand,
// and in the transcripts in testdata.
package guided

import (
	"context"
	"crypto/rand"
	_ "embed" // of the contract
	"errors"
	"io"
	"log/slog"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/scope"
	"github.com/sequent-dev/sequent/dialect/shortid"
	"github.com/sequent-dev/sequent/tool"
)

// name is the dialect's, and where its sessions say they were begun.
const name = "guided"

var (
	//go:embed tool.json
	specJSON []byte
	//go:embed tool.md
	specText []byte
)

// A Config says what the dialect works with.
type Config struct {
	Engine *sequent.Engine // required
	Rand   io.Reader       // where session ids come from; nil means crypto/rand
	Logger *slog.Logger    // faults, never a thought; nil means discard
}

// A server is what the calls of one dialect share.
type server struct {
	engine *sequent.Engine
	scopes *scope.Finder
	rand   io.Reader
	logger *slog.Logger
	strict tool.Tool // takes what is published
	loose  tool.Tool // takes what is left of arguments that are wrong
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

// call answers a call. Whatever happens, the reply keeps the contract.
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

// errFinished ends a change to a session that the thought does not belong to.
var errFinished = errors.New("guided: the thought begins the next session")

// record appends the thought to the scope's session, or to the next one.
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
		// One that was deleted or has expired is followed like a completed one.
		if err != errFinished && !errors.Is(err, sequent.ErrNotFound) {
			return s, err
		}
	}
	return d.begin(ctx, engine, turn, in)
}

// begin puts the thought into a new session, which is the scope's from now on.
func (d *server) begin(ctx context.Context, engine *sequent.Engine, turn *scope.Turn, in args) (*sequent.Session, error) {
	const tries = 3 // an id that is taken is a chance of one in 2^60 for each session there is
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

// full reports whether a session takes no more thoughts.
func full(s *sequent.Session, limits sequent.Limits) bool {
	return limits.Thoughts > 0 && s.Len() >= limits.Thoughts
}

// Package status is the dialect in snake_case whose replies end in a status word.
// Its second tool has a language model write the thoughts.
//
// The contract is in tool.json, tool.md, external.json and external.md, which are
// published as they stand, and in the transcripts in testdata.
package status

import (
	"context"
	"crypto/rand"
	_ "embed" // of the contract
	"errors"
	"io"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/scope"
	"github.com/sequent-dev/sequent/dialect/shortid"
	"github.com/sequent-dev/sequent/tool"
)

// name is the dialect's, and where its sessions say they were begun.
const name = "status"

var (
	//go:embed tool.json
	plainSpec []byte
	//go:embed tool.md
	plainText []byte
	//go:embed external.json
	externalSpec []byte
	//go:embed external.md
	externalText []byte
)

// A Config says what the dialect works with.
type Config struct {
	Engine *sequent.Engine // required
	Model  Model           // writes thoughts; nil means that calls which want one are refused
	Rand   io.Reader       // where the ids of default sessions come from; nil means crypto/rand
}

// A server is what the calls of one dialect share.
type server struct {
	engine *sequent.Engine
	model  Model
	scopes *scope.Finder
	lines  lines
	rand   io.Reader
}

// New returns the dialect. It panics if there is no engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("status: Config needs an Engine")
	}
	d := &server{
		engine: cfg.Engine,
		model:  cfg.Model,
		scopes: scope.New(cfg.Engine, name),
		lines:  lines{waiting: make(map[lineKey][]chan struct{})},
		rand:   cfg.Rand,
	}
	if d.model == nil {
		d.model = noModel{}
	}
	if d.rand == nil {
		d.rand = rand.Reader
	}
	plain := newTool(plainWords, tool.Parse(plainSpec, plainText), d.think)
	external := newTool(externalWords, tool.Parse(externalSpec, externalText), d.external)
	// A model takes its time, and calls of other sessions need not wait. The calls
	// of one session keep their order, whichever tool they call.
	plain.Lane, external.Lane = lane, lane
	return dialect.Dialect{
		Name:    name,
		Summary: "snake_case arguments and a status word in every reply, and a second tool whose thoughts a language model writes",
		Tools:   []tool.Tool{plain, external},
	}
}

// newTool is tool.New for a contract whose refusals are errors of the protocol.
func newTool[In any](w words, spec tool.Spec, handle func(context.Context, tool.Call, In) (tool.Reply, error)) tool.Tool {
	t := tool.New(spec, func(ctx context.Context, c tool.Call, in In) (tool.Reply, error) {
		reply, err := handle(ctx, c, in)
		if err != nil {
			return tool.Reply{}, w.word(err)
		}
		return reply, nil
	}, w.reject)
	call := t.Call
	t.Call = func(ctx context.Context, c tool.Call) (tool.Reply, error) {
		if none(c.Args) {
			return tool.Reply{}, invalidParams("Missing arguments for " + w.tool)
		}
		return call(ctx, c)
	}
	return t
}

// add adds a thought to a session. What a model was asked is the better title.
func add(c *sequent.Change, d sequent.Draft) error {
	if c.Session().Title() == "" && d.Note != "" {
		c.SetTitle(d.Note)
	}
	_, err := c.Append(d)
	return err
}

// added is the change that adds a thought to a session, new or not.
func added(d sequent.Draft) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		if c.Session().Version() == 0 {
			c.BeginIn("", name)
		}
		return add(c, d)
	}
}

// record puts a thought into a session, the scope's if id is empty.
func (d *server) record(ctx context.Context, caller tool.Caller, id sequent.ID, draft sequent.Draft) (*sequent.Session, error) {
	engine := d.engine.Owned(caller.Owner)
	if id != "" {
		return engine.Ensure(ctx, id, added(draft))
	}
	turn, err := d.scopes.Enter(caller)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	current, err := turn.Current(ctx)
	if err != nil {
		return nil, err
	}
	if current != "" {
		s, err := engine.Update(ctx, current, added(draft))
		// One that was deleted or has expired is followed by another.
		if !errors.Is(err, sequent.ErrNotFound) {
			return s, err
		}
	}
	return d.begin(ctx, engine, turn, draft)
}

// begin puts a thought into a new session, which is the scope's from now on.
func (d *server) begin(ctx context.Context, engine *sequent.Engine, turn *scope.Turn, draft sequent.Draft) (*sequent.Session, error) {
	const tries = 3 // an id that is taken is a chance of one in 2^60 for each session there is
	for try := 1; ; try++ {
		id, err := shortid.New(d.rand)
		if err != nil {
			return nil, err
		}
		s, err := engine.Begin(ctx, id, func(c *sequent.Change) error {
			turn.Begin(c)
			return add(c, draft)
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

// look returns a session as it is, the scope's if id is empty; nil if there is
// none.
func (d *server) look(ctx context.Context, caller tool.Caller, id sequent.ID) (*sequent.Session, error) {
	if id == "" {
		turn, err := d.scopes.Enter(caller)
		if err != nil {
			return nil, err
		}
		defer turn.Leave()
		if id, err = turn.Current(ctx); err != nil || id == "" {
			return nil, err
		}
	}
	s, err := d.engine.Owned(caller.Owner).Session(ctx, id)
	if errors.Is(err, sequent.ErrNotFound) {
		return nil, nil
	}
	return s, err
}

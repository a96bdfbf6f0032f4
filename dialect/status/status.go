// Package status is the dialect with snake_case arguments and a status word in each
// reply. Its second tool records thoughts that a language model writes.
//
// The contract is in tool.json, tool.md, external.json and external.md, which are
// published byte for byte, and in the transcripts in testdata.
package status

import (
	"bytes"
	"context"
	"embed"
	"io"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// name is the name of the dialect, also in the headers of its sessions.
const name = "status"

//go:embed *.json tool.md external.md batch.md analyze.md
var contract embed.FS

// A Config configures the dialect.
type Config struct {
	Engine *sequent.Engine // required
	Model  Model           // writes thoughts; nil refuses the calls that need it
	Rand   io.Reader       // source of session ids; nil means crypto/rand
	Board  Board           // shows thoughts while a model writes them; nil for none
}

// A server has the state that all calls share.
type server struct {
	engine *sequent.Engine
	model  Model
	board  Board
	scopes *dialect.Scopes
	newID  func() (sequent.ID, error)
}

// New returns the dialect. It panics if there is no engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("status: Config needs an Engine")
	}
	d := &server{
		engine: cfg.Engine,
		model:  cfg.Model,
		board:  cfg.Board,
		scopes: dialect.NewScopes(cfg.Engine, name),
		newID:  dialect.ShortIDs(cfg.Rand),
	}
	if d.model == nil {
		d.model = noModel{}
	}
	plain, external := newTool("tool", d.think), newTool("external", d.external)
	batch, analyze := newTool("batch", d.batch), newTool("analyze", d.analyze).AsHeavy()
	// Calls that wait for a model do not delay those of other sessions. The calls of one
	// session keep their order, also between the tools.
	tools := []tool.Tool{withArguments(plain), withArguments(external), withArguments(batch)}
	for i := range tools {
		tools[i].Lane = lane
	}
	return dialect.Dialect{
		Name:    name,
		Summary: "snake_case arguments and a status word in every reply, a second tool whose thoughts a language model writes, and analysis across sessions",
		Tools:   append(tools, analyze),
	}
}

// newTool is tool.New for a contract in files of a name, whose refusals are errors of the
// protocol.
func newTool[In any](file string, handle func(context.Context, tool.Call, In) (tool.Reply, error)) tool.Tool {
	spec := tool.ParseFS(contract, file)
	w := words(spec.Name)
	return tool.New(spec, func(ctx context.Context, c tool.Call, in In) (tool.Reply, error) {
		reply, err := handle(ctx, c, in)
		if err != nil {
			return tool.Reply{}, w.word(err)
		}
		return reply, nil
	}, func(err *tool.ArgumentError) (tool.Reply, error) { return tool.Reply{}, w.word(err) })
}

// withArguments refuses calls without any arguments.
func withArguments(t tool.Tool) tool.Tool {
	call := t.Call
	t.Call = func(ctx context.Context, c tool.Call) (tool.Reply, error) {
		if args := bytes.TrimSpace(c.Args); len(args) == 0 || string(args) == "null" {
			return tool.Reply{}, invalidParams("Missing arguments for " + t.Name)
		}
		return call(ctx, c)
	}
	return t
}

// add appends a thought to a session. The title is the prompt of a thought that a model
// wrote.
func add(c *sequent.Change, d sequent.Draft) error {
	if c.Session().Title() == "" && d.Note != "" {
		c.SetTitle(d.Note)
	}
	_, err := c.Append(d)
	return err
}

// enter waits for the earlier calls of a session, of the scope's if id is empty: a thought
// must not be overtaken while a model writes it, because the next one builds on it.
func (d *server) enter(ctx context.Context, c tool.Caller, id sequent.ID) (*dialect.Turn, error) {
	if id == "" {
		return d.scopes.Enter(ctx, c)
	}
	return d.scopes.EnterSession(ctx, c, id)
}

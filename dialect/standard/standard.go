// Package standard is the default dialect: a superset of the reference server's
// arguments. Replies return a session id for the next call, thoughts are numbered
// automatically, references are checked, calls can be repeated safely, and a second tool
// returns thoughts within a token budget.
//
// The contract is in tool.json, tool.md, recall.json and recall.md, which are published
// byte for byte, and in the transcripts in testdata.
package standard

import (
	"cmp"
	"embed"
	"io"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// name is the name of the dialect, also in the headers of its sessions.
const name = "standard"

var (
	//go:embed tool.json tool.md recall.json recall.md
	contract embed.FS
	//go:embed documentation.md
	documentation string
)

// instructions are for the model, at connection: when to think here and when not, and
// how to come back. They have at most 80 tokens.
const instructions = "Think here when a problem takes several steps, compares ways, or may outlive this conversation; " +
	"answer simple questions without it. Keep the sessionId. After a break, or when earlier context is gone, " +
	"call recall_thinking with it before you go on; without it, recall_thinking lists what is unfinished."

// A Config configures the dialect.
type Config struct {
	Engine *sequent.Engine // required
	Render Render          // forms in which sessions are resources
	Rand   io.Reader       // source of session ids; nil means crypto/rand
	// ReplyLimit is the maximum size of a reply and of a document in bytes; 0 means
	// 1 MiB. A session that is larger is read in parts with recall_thinking.
	ReplyLimit int

	// NoEarlier means that the first reply of a session names no earlier session on the same problem.
	NoEarlier bool
	// Commits counts the commits of a project that are not in the history of a commit, if it knows a work tree
	// of the project. Nil means that they are not known.
	Commits func(project, since string) (n int, ok bool)
}

// A Render has functions that write sessions as documents. A form whose function is
// nil is not offered as a resource.
type Render struct {
	Markdown func(*sequent.Session) string
	JSON     func(*sequent.Session) string
	Mermaid  func(*sequent.Session) string
}

// A server has the state that the tools, resources and prompts share.
type server struct {
	engine *sequent.Engine
	scopes *dialect.Scopes
	render Render
	newID  func() (sequent.ID, error)
	limit  int // bytes of a reply or document

	noEarlier bool
	commits   func(project, since string) (n int, ok bool)
}

const defaultReplyLimit = 1 << 20 // bytes

// New returns the dialect. It panics if cfg has no Engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("standard: Config needs Engine")
	}
	d := &server{
		engine: cfg.Engine,
		scopes: dialect.NewScopes(cfg.Engine, name),
		render: cfg.Render,
		newID:  dialect.ShortIDs(cfg.Rand),
		limit:  cmp.Or(cfg.ReplyLimit, defaultReplyLimit),

		noEarlier: cfg.NoEarlier,
		commits:   cfg.Commits,
	}
	return dialect.Dialect{
		Name:         name,
		Summary:      "the reference server's arguments, with sessions, auto-numbering, safe retry and recall",
		Instructions: instructions,
		Tools: []tool.Tool{
			tool.New(tool.ParseFS(contract, "tool"), d.think, dialect.Reject),
			tool.New(tool.ParseFS(contract, "recall"), d.recall, dialect.Reject).AsHeavy(),
		},
		Resources: d.resources(),
		Templates: d.templates(),
		Prompts:   d.prompts(),
	}
}

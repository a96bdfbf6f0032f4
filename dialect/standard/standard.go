// Package standard is the project's own dialect and its default: the arguments
// of the reference server and what it lacks. A session has a handle that the
// model is given and passes on, numbers count by themselves, references are
// checked, a lost reply can be asked for again, and a second tool gives the
// thoughts back in as many tokens as the model wants to spend.
//
// The contract is in tool.json, tool.md, recall.json and recall.md, which are
// published as they stand, and in the transcripts in testdata.
package standard

import (
	"crypto/rand"
	_ "embed" // of the contract
	"io"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/scope"
	"github.com/sequent-dev/sequent/dialect/watch"
	"github.com/sequent-dev/sequent/tool"
)

// name is the dialect's, and where its sessions say they were begun.
const name = "standard"

var (
	//go:embed tool.json
	thinkSpec []byte
	//go:embed tool.md
	thinkText []byte
	//go:embed recall.json
	recallSpec []byte
	//go:embed recall.md
	recallText []byte
	//go:embed documentation.md
	documentation string
)

// A Config says what the dialect works with.
type Config struct {
	Engine *sequent.Engine // required
	Render Render          // forms in which sessions are resources
	Rand   io.Reader       // where session ids come from; nil means crypto/rand
}

// A Render has functions that write sessions as documents. A form whose function is
// nil is not offered as a resource.
type Render struct {
	Markdown func(*sequent.Session) string
	JSON     func(*sequent.Session) string
	Mermaid  func(*sequent.Session) string
}

// A server is what the dialect's parts share.
type server struct {
	engine  *sequent.Engine
	scopes  *scope.Finder
	watcher *watch.Watcher
	render  Render
	rand    io.Reader
}

// New returns the dialect. It panics if cfg has no Engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("standard: Config needs Engine")
	}
	d := &server{
		engine:  cfg.Engine,
		scopes:  scope.New(cfg.Engine, name),
		watcher: watch.New(cfg.Engine),
		render:  cfg.Render,
		rand:    cfg.Rand,
	}
	if d.rand == nil {
		d.rand = rand.Reader
	}
	return dialect.Dialect{
		Name:    name,
		Summary: "the reference server's arguments, with sessions, auto-numbering, safe retry and recall",
		Tools: []tool.Tool{
			tool.New(tool.Parse(thinkSpec, thinkText), d.think, reject),
			tool.New(tool.Parse(recallSpec, recallText), d.recall, reject),
		},
		Resources: d.resources(),
		Templates: d.templates(),
		Prompts:   d.prompts(),
	}
}

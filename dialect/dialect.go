// Package dialect says what a dialect is: one published form of the
// sequential-thinking tool, as a value that any transport can serve.
package dialect

import (
	"context"

	"github.com/sequent-dev/sequent/tool"
)

// A Dialect is one form of the sequential-thinking tool. It is made by the New
// function of its package, over an engine.
type Dialect struct {
	Name         string // as in --dialect=NAME and /mcp/NAME
	Summary      string // one line for people
	Instructions string // for the model, at connection; may be empty
	Tools        []tool.Tool
	Resources    []Resource
	Templates    []Template
	Prompts      []Prompt
}

// A Resource is a document at a fixed URI.
type Resource struct {
	URI         string
	Name        string
	Title       string
	Description string
	MIME        string
	Read        func(ctx context.Context, c tool.Caller) (text string, err error)
}

// A Template is a family of documents with one variable in their URI, written
// {id} in it, or {+id} if its values may have slashes.
type Template struct {
	URI         string // for example sequent://sessions/{id}
	Name        string
	Title       string
	Description string
	MIME        string
	// Read returns the document for a value of the variable. An error matching
	// sequent.ErrNotFound means that there is no such document.
	Read func(ctx context.Context, c tool.Caller, value string) (text string, err error)
	// Complete returns values that begin with prefix, best first.
	Complete func(ctx context.Context, c tool.Caller, prefix string) ([]string, error)
	// Watch calls changed each time that a document has changed, until stop is
	// called; gone says that the document does not exist any more, after which
	// changed is not called again. Changed does not wait, and stop returns when it
	// is not called any more. An error matching sequent.ErrNotFound means that
	// there is no such document. Nil means that nobody is told of changes.
	Watch func(ctx context.Context, c tool.Caller, value string, changed func(gone bool)) (stop func(), err error)
}

// A Prompt is a message that a person can have their client send.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []Argument
	// Get returns the text of the one user message. Required arguments are
	// there; args holds no others than the declared.
	Get func(ctx context.Context, c tool.Caller, args map[string]string) (text string, err error)
}

// An Argument is a parameter of a prompt.
type Argument struct {
	Name        string
	Title       string
	Description string
	Required    bool
	Complete    func(ctx context.Context, c tool.Caller, prefix string) ([]string, error) // may be nil
}

// Package dialect defines dialects: published forms of the sequential-thinking tool,
// as values that any transport can serve.
package dialect

import (
	"context"

	"github.com/sequent-dev/sequent/tool"
)

// A Dialect is one form of the sequential-thinking tool. The New function of its
// package returns it for an engine.
type Dialect struct {
	Name         string // as in --dialect=NAME and /mcp/NAME
	Summary      string // one line for people
	Instructions string // for the model, at connection; may be empty
	Tools        []tool.Tool
	Resources    []Resource
	Templates    []Template
	Prompts      []Prompt
	Skills       []Skill
}

// A Resource is a document at a fixed URI.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	App         bool   `json:"-"` // it is the page of a tool, only for clients that show pages (MCP Apps)

	Read func(ctx context.Context, c tool.Caller) (text string, err error) `json:"-"`
}

// A Template is a set of documents whose URIs differ in one variable, written {id},
// or {+id} if its values can contain slashes.
type Template struct {
	URI         string `json:"uriTemplate"` // for example sequent://sessions/{id}
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
	// Read returns the document for a value of the variable, or an error matching
	// sequent.ErrNotFound if there is none.
	Read func(ctx context.Context, c tool.Caller, value string) (text string, err error) `json:"-"`
	// Complete returns values that begin with prefix, best first.
	Complete func(ctx context.Context, c tool.Caller, prefix string) ([]string, error) `json:"-"`
	// Watch calls changed after each change of a document until stop is called. After
	// a deletion it calls changed once with gone set. Changed must not block. Stop
	// returns when no call of changed is running. The error matches
	// sequent.ErrNotFound if there is no such document. A nil Watch means that
	// changes are not reported.
	Watch func(ctx context.Context, c tool.Caller, value string, changed func(gone bool)) (stop func(), err error) `json:"-"`
}

// A Skill tells an agent when to use the tools, and how. It is one Markdown file.
type Skill struct {
	// Name and Description are those of the front matter of Text, which has no other fields.
	Name        string
	Description string
	Text        string // the whole file
}

// A Prompt is a message that a person can select in a client.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Arguments   []Argument `json:"arguments,omitempty"`
	// Get returns the text of the one user message. Args has all required arguments
	// and only declared ones.
	Get func(ctx context.Context, c tool.Caller, args map[string]string) (text string, err error) `json:"-"`
}

// An Argument is a parameter of a prompt.
type Argument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`

	Complete func(ctx context.Context, c tool.Caller, prefix string) ([]string, error) `json:"-"` // may be nil
}

// Tokens estimates the number of tokens of a text as a quarter of its bytes. It is
// precise enough for budgets, not for billing.
func Tokens(text string) int { return (len(text) + 3) / 4 }

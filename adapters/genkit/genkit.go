// Package genkit adapts sequent's thinking tool to Firebase Genkit.
//
//	thinking, err := sequentgenkit.New(history.NewTool(history.ToolConfig{}))
//	answer, err := genkit.Generate(ctx, g, ai.WithTools(thinking), …)
package genkit

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/api"
)

// A Function is a tool of sequent: a [*history.Tool], or the result of the method
// Function of any other tool.
//
// [*history.Tool]: https://pkg.go.dev/github.com/sequent-dev/sequent/dialect/history#Tool
type Function interface {
	Name() string
	Description() string
	InputSchema() json.RawMessage
	CallJSON(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// A Tool is a Function in Genkit's form. Pass it to a single request with
// [ai.WithTools], for example to give each conversation its own session, or
// register it for all requests with genkit.RegisterAction.
//
// The model receives the function's schema, but Genkit does not enforce it, because
// Genkit ends the request if the arguments do not match. The function tolerates more
// spellings and replies to the model if it refuses a call.
type Tool struct {
	*ai.ToolAction[any, any]
	function Function
	schema   map[string]any
}

var (
	_ ai.Tool          = (*Tool)(nil)
	_ api.Registerable = (*Tool)(nil)
)

// New returns a tool for f. It fails if the schema of f is malformed.
func New(f Function) (*Tool, error) {
	t := &Tool{ToolAction: define(f), function: f}
	if err := json.Unmarshal(f.InputSchema(), &t.schema); err != nil {
		return nil, fmt.Errorf("genkit: schema of %s: %w", f.Name(), err)
	}
	return t, nil
}

// define returns a tool that accepts any arguments.
func define(f Function) *ai.ToolAction[any, any] {
	return ai.NewTool(f.Name(), f.Description(), func(ctx *ai.ToolContext, args any) (any, error) {
		raw, err := json.Marshal(args)
		if err != nil {
			return nil, fmt.Errorf("genkit: arguments of %s: %w", f.Name(), err)
		}
		answer, err := f.CallJSON(ctx, raw)
		if err != nil {
			return nil, err
		}
		var m map[string]any
		if err := json.Unmarshal(answer, &m); err != nil {
			return nil, fmt.Errorf("genkit: reply of %s: %w", f.Name(), err)
		}
		return m, nil
	})
}

// Definition returns the definition that the model receives.
func (t *Tool) Definition() *ai.ToolDefinition {
	d := t.ToolAction.Definition()
	d.InputSchema = t.schema
	return d
}

// Register adds the tool to a registry. Genkit calls it for the tools of a request,
// also concurrently.
func (t *Tool) Register(r api.Registry) {
	key := api.KeyFromName(api.ActionTypeToolV2, t.Name())
	own := r.NewChild()
	define(t.function).Register(own)
	a := action{own.LookupAction(key), t.schema}
	r.RegisterAction(key, a)
	r.RegisterAction(api.KeyFromName(api.ActionTypeTool, t.Name()), a)
}

// An action describes itself with a schema that it does not enforce.
type action struct {
	api.Action
	schema map[string]any
}

// Desc returns the description of the action.
func (a action) Desc() api.ActionDesc {
	d := a.Action.Desc()
	d.InputSchema = a.schema
	return d
}

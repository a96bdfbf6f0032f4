// Package genkit makes the thinking tool a tool of Firebase Genkit.
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

// A Function is what can be made a tool: a [*history.Tool], or the Function of any
// other tool of the module.
//
// [*history.Tool]: https://pkg.go.dev/github.com/sequent-dev/sequent/dialect/history#Tool
type Function interface {
	Name() string
	Description() string
	InputSchema() json.RawMessage
	CallJSON(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// A Tool is a Function as Genkit has it. It can be given to one request, with
// [ai.WithTools], so that each conversation has a tool with a session of its own,
// or be registered for all by its name, with genkit.RegisterAction.
//
// It is offered with the function's schema, but not held to it by Genkit, for which
// arguments that do not fit are the end of the request: the function reads them more
// loosely, and answers what it refuses.
type Tool struct {
	*ai.ToolDef[any, any]
	function Function
	schema   map[string]any
}

var (
	_ ai.Tool          = (*Tool)(nil)
	_ api.Registerable = (*Tool)(nil)
)

// New returns a tool. The error is that of a schema that is none.
func New(f Function) (*Tool, error) {
	t := &Tool{ToolDef: define(f), function: f}
	if err := json.Unmarshal(f.InputSchema(), &t.schema); err != nil {
		return nil, fmt.Errorf("genkit: the schema of %s: %w", f.Name(), err)
	}
	return t, nil
}

// define returns a tool that takes any arguments.
func define(f Function) *ai.ToolDef[any, any] {
	return ai.NewTool(f.Name(), f.Description(), func(ctx *ai.ToolContext, args any) (any, error) {
		raw, err := json.Marshal(args)
		if err != nil {
			return nil, fmt.Errorf("genkit: the arguments of %s: %w", f.Name(), err)
		}
		answer, err := f.CallJSON(ctx, raw)
		if err != nil {
			return nil, err
		}
		var m map[string]any
		if err := json.Unmarshal(answer, &m); err != nil {
			return nil, fmt.Errorf("genkit: the answer of %s: %w", f.Name(), err)
		}
		return m, nil
	})
}

// Definition returns the function as a model is offered it.
func (t *Tool) Definition() *ai.ToolDefinition {
	d := t.ToolDef.Definition()
	d.InputSchema = t.schema
	return d
}

// Register puts the tool into a registry. Genkit does so itself for a tool that is
// given to a request, which may be several at a time.
func (t *Tool) Register(r api.Registry) {
	key := api.KeyFromName(api.ActionTypeToolV2, t.Name())
	own := r.NewChild()
	define(t.function).Register(own)
	a := action{own.LookupAction(key), t.schema}
	r.RegisterAction(key, a)
	r.RegisterAction(api.KeyFromName(api.ActionTypeTool, t.Name()), a)
}

// An action is one that is described with a schema which it does not enforce.
type action struct {
	api.Action
	schema map[string]any
}

// Desc describes the action.
func (a action) Desc() api.ActionDesc {
	d := a.Action.Desc()
	d.InputSchema = a.schema
	return d
}

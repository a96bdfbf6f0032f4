// Package anthropic makes the thinking tool a tool of the runner of
// anthropic-sdk-go.
//
//	thinking, err := sequentanthropic.New(history.NewTool(history.ToolConfig{}))
//	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{thinking}, params)
package anthropic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
)

// A Function is what can be made a tool: a [*history.Tool], or the Function of any
// other tool of the module.
//
// [*history.Tool]: https://pkg.go.dev/github.com/sequent-dev/sequent/dialect/history#Tool
type Function interface {
	Name() string
	Description() string
	InputSchema() json.RawMessage
	Call(ctx context.Context, args string) (string, error)
}

// A Tool is a Function as the runner has it.
type Tool struct {
	function Function
	schema   anthropic.BetaToolInputSchemaParam
}

var _ anthropic.BetaTool = (*Tool)(nil)

// New returns a tool. The error is that of a schema that is none.
//
// Arguments reach the function as the model wrote them. What it refuses is an
// answer to the model, and only a fault is an error, of which the runner tells the
// model too.
func New(f Function) (*Tool, error) {
	var schema map[string]any
	if err := json.Unmarshal(f.InputSchema(), &schema); err != nil {
		return nil, fmt.Errorf("anthropic: the schema of %s: %w", f.Name(), err)
	}
	t := &Tool{function: f}
	if err := json.Unmarshal(f.InputSchema(), &t.schema); err != nil {
		return nil, fmt.Errorf("anthropic: the schema of %s: %w", f.Name(), err)
	}
	return t, nil
}

// Name returns the function's name.
func (t *Tool) Name() string { return t.function.Name() }

// Description returns what a model is told about the function.
func (t *Tool) Description() string { return t.function.Description() }

// InputSchema returns the schema of the arguments.
func (t *Tool) InputSchema() anthropic.BetaToolInputSchemaParam { return t.schema }

// Execute calls the function.
func (t *Tool) Execute(ctx context.Context, args json.RawMessage) ([]anthropic.BetaToolResultBlockParamContentUnion, error) {
	text, err := t.function.Call(ctx, string(args))
	if err != nil {
		return nil, err
	}
	return []anthropic.BetaToolResultBlockParamContentUnion{{OfText: &anthropic.BetaTextBlockParam{Text: text}}}, nil
}

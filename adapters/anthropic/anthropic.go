// Package anthropic adapts sequent's thinking tool to the tool runner of
// anthropic-sdk-go.
//
//	thinking, err := sequentanthropic.New(history.NewTool(history.ToolConfig{}))
//	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{thinking}, params)
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
)

// A Function is a tool of sequent: a [*history.Tool], or the result of the method
// Function of any other tool.
//
// [*history.Tool]: https://pkg.go.dev/github.com/sequent-dev/sequent/dialect/history#Tool
type Function interface {
	Name() string
	Description() string
	InputSchema() json.RawMessage
	CallText(ctx context.Context, args json.RawMessage) (text string, refused bool, err error)
}

// A Tool is a Function in the runner's form.
type Tool struct {
	function Function
	schema   anthropic.BetaToolInputSchemaParam
}

var _ anthropic.BetaTool = (*Tool)(nil)

// New returns a tool for f. It fails if the schema of f is malformed.
//
// The function receives the arguments unchanged. If it refuses a call, the model
// receives the refusal as a result with is_error, as it does internal failures.
func New(f Function) (*Tool, error) {
	var schema map[string]any
	if err := json.Unmarshal(f.InputSchema(), &schema); err != nil {
		return nil, fmt.Errorf("anthropic: schema of %s: %w", f.Name(), err)
	}
	t := &Tool{function: f}
	if err := json.Unmarshal(f.InputSchema(), &t.schema); err != nil {
		return nil, fmt.Errorf("anthropic: schema of %s: %w", f.Name(), err)
	}
	return t, nil
}

// Name returns the function's name.
func (t *Tool) Name() string { return t.function.Name() }

// Description returns the function's description.
func (t *Tool) Description() string { return t.function.Description() }

// InputSchema returns the JSON Schema of the arguments.
func (t *Tool) InputSchema() anthropic.BetaToolInputSchemaParam { return t.schema }

// Execute calls the function. A refusal is an error, which the runner sends to the
// model.
func (t *Tool) Execute(ctx context.Context, args json.RawMessage) ([]anthropic.BetaToolResultBlockParamContentUnion, error) {
	text, refused, err := t.function.CallText(ctx, args)
	if err == nil && refused {
		err = errors.New(text)
	}
	if err != nil {
		return nil, err
	}
	return []anthropic.BetaToolResultBlockParamContentUnion{{OfText: &anthropic.BetaTextBlockParam{Text: text}}}, nil
}

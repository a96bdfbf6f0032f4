// Package adk makes the thinking tool a tool of agents on Google's Agent
// Development Kit.
//
//	thinking, err := adk.New(history.NewTool(history.ToolConfig{}))
//	agent, err := llmagent.New(llmagent.Config{Tools: []tool.Tool{thinking}, …})
package adk

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolutils"
	"google.golang.org/genai"
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

// A Tool is a Function as ADK has it.
type Tool struct {
	function Function
	schema   *jsonschema.Schema
}

var _ tool.Tool = (*Tool)(nil)

// New returns a tool. The error is that of a schema that is none.
//
// Arguments reach the function as the model wrote them: it reads them more loosely
// than ADK's own function tools do. What it refuses is an answer to the model, and
// only a fault is an error.
func New(f Function) (*Tool, error) {
	t := &Tool{function: f, schema: new(jsonschema.Schema)}
	if err := json.Unmarshal(f.InputSchema(), t.schema); err != nil {
		return nil, fmt.Errorf("adk: the schema of %s: %w", f.Name(), err)
	}
	return t, nil
}

// Name returns the function's name.
func (t *Tool) Name() string { return t.function.Name() }

// Description returns what a model is told about the function.
func (t *Tool) Description() string { return t.function.Description() }

// IsLongRunning is false: an answer is the whole answer.
func (t *Tool) IsLongRunning() bool { return false }

// Declaration returns the function as a model is offered it.
func (t *Tool) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: t.Name(), Description: t.Description(), ParametersJsonSchema: t.schema}
}

// ProcessRequest offers the function to a model.
func (t *Tool) ProcessRequest(_ agent.Context, r *model.LLMRequest) error {
	return toolutils.PackTool(r, t)
}

// Run calls the function.
func (t *Tool) Run(ctx agent.Context, args any) (map[string]any, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("adk: the arguments of %s: %w", t.Name(), err)
	}
	answer, err := t.function.CallJSON(ctx, raw)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(answer, &m); err != nil {
		return nil, fmt.Errorf("adk: the answer of %s: %w", t.Name(), err)
	}
	return m, nil
}

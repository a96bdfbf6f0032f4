// Package adk adapts sequent's thinking tool to Google's Agent Development Kit.
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

// A Tool is a Function in ADK's form.
type Tool struct {
	function Function
	schema   *jsonschema.Schema
}

var _ tool.Tool = (*Tool)(nil)

// New returns a tool for f. It fails if the schema of f is malformed.
//
// The function receives the arguments unchanged and tolerates more spellings than
// ADK's own function tools. If it refuses a call, the model receives the refusal as
// a reply. Only internal failures are errors.
func New(f Function) (*Tool, error) {
	t := &Tool{function: f, schema: new(jsonschema.Schema)}
	if err := json.Unmarshal(f.InputSchema(), t.schema); err != nil {
		return nil, fmt.Errorf("adk: schema of %s: %w", f.Name(), err)
	}
	return t, nil
}

// Name returns the function's name.
func (t *Tool) Name() string { return t.function.Name() }

// Description returns the function's description.
func (t *Tool) Description() string { return t.function.Description() }

// IsLongRunning returns false.
func (t *Tool) IsLongRunning() bool { return false }

// Declaration returns the declaration that the model receives.
func (t *Tool) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: t.Name(), Description: t.Description(), ParametersJsonSchema: t.schema}
}

// ProcessRequest adds the function to a request.
func (t *Tool) ProcessRequest(_ agent.Context, r *model.LLMRequest) error {
	return toolutils.PackTool(r, t)
}

// Run calls the function.
func (t *Tool) Run(ctx agent.Context, args any) (map[string]any, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("adk: arguments of %s: %w", t.Name(), err)
	}
	answer, err := t.function.CallJSON(ctx, raw)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(answer, &m); err != nil {
		return nil, fmt.Errorf("adk: reply of %s: %w", t.Name(), err)
	}
	return m, nil
}

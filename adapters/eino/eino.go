// Package eino adapts sequent's thinking tool to agents and graphs of CloudWeGo's
// Eino.
//
//	thinking, err := eino.New(history.NewTool(history.ToolConfig{}))
//	agent, err := react.NewAgent(ctx, &react.AgentConfig{
//		ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{thinking}}, …
//	})
package eino

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
)

// A Function is a tool of sequent: a [*history.Tool], or the result of the method
// Function of any other tool.
//
// [*history.Tool]: https://pkg.go.dev/github.com/sequent-dev/sequent/dialect/history#Tool
type Function interface {
	Name() string
	Description() string
	InputSchema() json.RawMessage
	Call(ctx context.Context, args string) (string, error)
}

// A Tool is a Function in Eino's form.
type Tool struct {
	function Function
	schema   *jsonschema.Schema
}

var _ tool.InvokableTool = (*Tool)(nil)

// New returns a tool for f. It fails if the schema of f is malformed.
//
// If the function refuses a call, the model receives the refusal as a reply. Only
// internal failures are errors, and they end the run.
func New(f Function) (*Tool, error) {
	t := &Tool{function: f, schema: new(jsonschema.Schema)}
	if err := json.Unmarshal(f.InputSchema(), t.schema); err != nil {
		return nil, fmt.Errorf("eino: schema of %s: %w", f.Name(), err)
	}
	return t, nil
}

// Info returns the description that the model receives.
func (t *Tool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{
		Name: t.function.Name(), Desc: t.function.Description(),
		ParamsOneOf: schema.NewParamsOneOfByJSONSchema(t.schema),
	}, nil
}

// InvokableRun calls the function. It ignores options.
func (t *Tool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	return t.function.Call(ctx, args)
}

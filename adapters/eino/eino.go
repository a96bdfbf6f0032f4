// Package eino makes the thinking tool a tool of agents and graphs on CloudWeGo's
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

// A Tool is a Function as Eino has it.
type Tool struct {
	function Function
	schema   *jsonschema.Schema
}

var _ tool.InvokableTool = (*Tool)(nil)

// New returns a tool. The error is that of a schema that is none.
//
// What the function refuses is an answer to the model, and only a fault is an
// error, which ends the run.
func New(f Function) (*Tool, error) {
	t := &Tool{function: f, schema: new(jsonschema.Schema)}
	if err := json.Unmarshal(f.InputSchema(), t.schema); err != nil {
		return nil, fmt.Errorf("eino: the schema of %s: %w", f.Name(), err)
	}
	return t, nil
}

// Info returns the function as a model is offered it.
func (t *Tool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{
		Name: t.function.Name(), Desc: t.function.Description(),
		ParamsOneOf: schema.NewParamsOneOfByJSONSchema(t.schema),
	}, nil
}

// InvokableRun calls the function. It has no options.
func (t *Tool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	return t.function.Call(ctx, args)
}

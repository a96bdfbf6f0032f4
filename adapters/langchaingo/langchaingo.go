// Package langchaingo is for agents of LangChainGo: they get the thinking tool with its
// schema.
//
//	thinking := history.NewTool(history.ToolConfig{})
//	agent, err := langchaingo.NewAgent(llm, []tools.Tool{thinking})
//	executor := agents.NewExecutor(agent, agents.WithMaxIterations(30))
//
// A [tools.Tool] has no schema: [agents.NewOpenAIFunctionsAgent] describes every tool to
// the model with one string argument, __arg1 (LangChainGo v0.1.14), so a tool with named
// arguments fails. [NewAgent] returns the same agent with a model that also gets the
// schemas.
package langchaingo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"
)

// A Tool is a tool with a JSON Schema of its arguments: a [*history.Tool], or the
// Function of any other tool of the module. It needs no conversion.
//
// A refusal is an answer for the model. An error is an internal failure, and ends the
// run.
//
// [*history.Tool]: https://pkg.go.dev/github.com/sequent-dev/sequent/dialect/history#Tool
type Tool interface {
	tools.Tool
	InputSchema() json.RawMessage
}

// NewAgent returns an agent that calls tools. Each [Tool] is offered with its schema and
// called with the model's arguments as JSON. Others are offered as LangChainGo does. The
// error is about a schema that is not a JSON object.
//
// An executor stops after five iterations by default ([agents.WithMaxIterations]), and
// each thought is one.
func NewAgent(llm llms.Model, list []tools.Tool, opts ...agents.Option) (*agents.OpenAIFunctionsAgent, error) {
	m := &model{Model: llm, schemas: make(map[string]map[string]any)}
	for _, t := range list {
		withSchema, ok := t.(Tool)
		if !ok {
			continue
		}
		var schema map[string]any
		if err := json.Unmarshal(withSchema.InputSchema(), &schema); err != nil {
			return nil, fmt.Errorf("langchaingo: schema of %s: %w", t.Name(), err)
		}
		m.schemas[t.Name()] = schema
	}
	return agents.NewOpenAIFunctionsAgent(m, list, opts...), nil
}

// A model is a model that also gets the schemas of tools.
type model struct {
	llms.Model
	schemas map[string]map[string]any // by the tool's name
}

// GenerateContent offers the agent's functions with their schemas. They become
// tools: functions are deprecated, and only the clients of some providers read
// them.
func (m *model) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	offer := func(o *llms.CallOptions) {
		for _, f := range o.Functions {
			if schema, ok := m.schemas[f.Name]; ok {
				f.Parameters = schema
			}
			o.Tools = append(o.Tools, llms.Tool{Type: "function", Function: &f})
		}
		o.Functions = nil
	}
	return m.Model.GenerateContent(ctx, messages, append(options[:len(options):len(options)], offer)...)
}

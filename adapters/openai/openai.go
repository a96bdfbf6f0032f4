// Package openai offers the thinking tool to models by way of openai-go, which has
// no loop that calls tools: a program offers them with [Tools.Chat] or
// [Tools.Responses], and answers the calls with [Tools.AnswerChat] or
// [Tools.AnswerResponses].
package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// A Function is what can be offered: a [*history.Tool], or the Function of any
// other tool of the module.
//
// [*history.Tool]: https://pkg.go.dev/github.com/sequent-dev/sequent/dialect/history#Tool
type Function interface {
	Name() string
	Description() string
	InputSchema() json.RawMessage
	Call(ctx context.Context, args string) (string, error)
}

// Tools are the functions that a model is offered.
type Tools struct {
	functions []Function
	schemas   []map[string]any
}

// New returns tools. The error is that of a schema that is none, or of a name that
// two functions have.
func New(functions ...Function) (*Tools, error) {
	t := &Tools{functions: functions}
	for i, f := range functions {
		var schema map[string]any
		if err := json.Unmarshal(f.InputSchema(), &schema); err != nil {
			return nil, fmt.Errorf("openai: the schema of %s: %w", f.Name(), err)
		}
		t.schemas = append(t.schemas, schema)
		for _, other := range functions[:i] {
			if other.Name() == f.Name() {
				return nil, fmt.Errorf("openai: two functions are called %s", f.Name())
			}
		}
	}
	return t, nil
}

// Chat returns the tools for a request of the Chat Completions API.
func (t *Tools) Chat() []openai.ChatCompletionToolUnionParam {
	list := make([]openai.ChatCompletionToolUnionParam, len(t.functions))
	for i, f := range t.functions {
		list[i] = openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: f.Name(), Description: param.NewOpt(f.Description()), Parameters: t.schemas[i],
		})
	}
	return list
}

// Responses returns the tools for a request of the Responses API. They are not
// strict, for strictness wants every argument given in every call.
func (t *Tools) Responses() []responses.ToolUnionParam {
	list := make([]responses.ToolUnionParam, len(t.functions))
	for i, f := range t.functions {
		list[i] = responses.ToolParamOfFunction(f.Name(), t.schemas[i], false)
		list[i].OfFunction.Description = param.NewOpt(f.Description())
	}
	return list
}

// AnswerChat answers the tool calls of a message, in order: what it returns goes
// into the next request, behind the message. It is empty when the model calls
// nothing. An error is a fault that the model can do nothing about.
func (t *Tools) AnswerChat(ctx context.Context, m openai.ChatCompletionMessage) ([]openai.ChatCompletionMessageParamUnion, error) {
	var answers []openai.ChatCompletionMessageParamUnion
	for _, call := range m.ToolCalls {
		text, err := t.call(ctx, call.Function.Name, call.Function.Arguments)
		if err != nil {
			return nil, err
		}
		answers = append(answers, openai.ToolMessage(text, call.ID))
	}
	return answers, nil
}

// AnswerResponses answers the function calls of a response, in order: what it
// returns is the input of the next request, which names the response as the one
// before it. It is empty when the model calls nothing. An error is a fault that the
// model can do nothing about.
func (t *Tools) AnswerResponses(ctx context.Context, r *responses.Response) (responses.ResponseInputParam, error) {
	var answers responses.ResponseInputParam
	for _, item := range r.Output {
		if item.Type != "function_call" {
			continue
		}
		call := item.AsFunctionCall()
		text, err := t.call(ctx, call.Name, call.Arguments)
		if err != nil {
			return nil, err
		}
		answer := responses.ResponseInputItemParamOfFunctionCallOutput(text)
		answer.OfFunctionCallOutput.CallID = param.NewOpt(call.CallID)
		answers = append(answers, answer)
	}
	return answers, nil
}

// call calls a function by its name. Models now and then make one up.
func (t *Tools) call(ctx context.Context, name, args string) (string, error) {
	var names []string
	for _, f := range t.functions {
		if f.Name() == name {
			return f.Call(ctx, args)
		}
		names = append(names, f.Name())
	}
	return fmt.Sprintf("there is no tool %q; call one of %s", name, strings.Join(names, ", ")), nil
}

// Package openai adapts sequent's thinking tool to openai-go. That library has no
// loop that calls tools: a program adds the tools to its requests with [Tools.Chat]
// or [Tools.Responses], and answers the calls with [Tools.AnswerChat] or
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

// Tools holds functions that a model may call.
type Tools struct {
	functions []Function
	schemas   []map[string]any
}

// New returns tools for functions. It fails if a schema is malformed or two
// functions have the same name.
func New(functions ...Function) (*Tools, error) {
	t := &Tools{functions: functions}
	for i, f := range functions {
		var schema map[string]any
		if err := json.Unmarshal(f.InputSchema(), &schema); err != nil {
			return nil, fmt.Errorf("openai: schema of %s: %w", f.Name(), err)
		}
		t.schemas = append(t.schemas, schema)
		for _, other := range functions[:i] {
			if other.Name() == f.Name() {
				return nil, fmt.Errorf("openai: two functions have the name %s", f.Name())
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
// strict, because strict mode makes every argument required.
func (t *Tools) Responses() []responses.ToolUnionParam {
	list := make([]responses.ToolUnionParam, len(t.functions))
	for i, f := range t.functions {
		list[i] = responses.ToolParamOfFunction(f.Name(), t.schemas[i], false)
		list[i].OfFunction.Description = param.NewOpt(f.Description())
	}
	return list
}

// AnswerChat makes the tool calls of a message in order and returns their results,
// to be appended after the message in the next request. Without calls it returns
// nil. An error is an internal failure that the model cannot resolve.
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

// AnswerResponses makes the function calls of a response in order and returns their
// results. They are the input of the next request, with the response's id as
// PreviousResponseID. Without calls it returns nil. An error is an internal failure
// that the model cannot resolve.
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

// call calls a function by its name. Models sometimes invent a name.
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

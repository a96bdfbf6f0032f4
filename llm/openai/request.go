package openai

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/sequent-dev/sequent/llm"
)

// What a model may refuse to be told, and how the protocol calls it.
const (
	saysTemperature = "temperature"
	saysSchema      = "response_format"
	saysMaxTokens   = "max_tokens"
)

// otherMaxTokens returns the older name of a limit for the newer one, and the
// other way round.
func otherMaxTokens(name string) string {
	if name == "max_tokens" {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// request puts a question into the provider's form: what the library knows, and
// what it does not.
func (c *Client) request(r llm.Request) (openai.ChatCompletionRequest, []field) {
	q := openai.ChatCompletionRequest{Model: c.model}
	var extra []field
	for _, m := range r.Messages {
		q.Messages = append(q.Messages, message(m))
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Schema,
		}})
	}
	if len(q.Tools) > 0 {
		q.ReasoningEffort = c.about.toolEffort
	}
	if r.Schema != nil {
		extra = append(extra, c.schema(&q, *r.Schema)...)
	}
	if t := r.Temperature; t != nil && !c.about.temperature && !c.dropped(saysTemperature) {
		// The library leaves out a 0.
		raw, err := json.Marshal(max(0, min(*t, c.at.hottest)))
		if err == nil { // else it is no number
			extra = append(extra, field{"temperature", raw})
		}
	}
	if r.MaxTokens > 0 {
		name := c.at.maxTokens
		if c.dropped(saysMaxTokens) { // then it may take the other name
			name = otherMaxTokens(name)
		}
		extra = append(extra, field{name, json.RawMessage(strconv.Itoa(r.MaxTokens))})
	}
	return q, extra
}

// schema asks for an answer in a form, as well as the provider can be asked.
func (c *Client) schema(q *openai.ChatCompletionRequest, s llm.Schema) []field {
	how := c.at.structured
	if c.dropped(saysSchema) {
		how = byWords
	}
	if how == bySchema {
		q.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: s.Name, Schema: s.JSON, Strict: true},
		}
		return c.at.withSchema
	}
	if how == byObject {
		q.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	// Beside what the program tells the model, if it does: some providers want
	// that first, and once.
	words := s.InWords()
	if len(q.Messages) > 0 && q.Messages[0].Role == openai.ChatMessageRoleSystem {
		q.Messages[0].Content = strings.TrimSpace(q.Messages[0].Content + "\n\n" + words)
		return nil
	}
	q.Messages = append([]openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleSystem, Content: words}}, q.Messages...)
	return nil
}

func message(m llm.Message) openai.ChatCompletionMessage {
	w := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text, ToolCallID: m.CallID}
	if m.Role == llm.Result {
		w.Content = cmp.Or(m.Text, "(nothing)") // the library would leave it out
	}
	for _, call := range m.Calls {
		w.ToolCalls = append(w.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: arguments(call.Args)},
		})
	}
	return w
}

// arguments returns what a call was given. Some services refuse a conversation in
// which that is no JSON object, whoever wrote it.
func arguments(args string) string {
	if args = strings.TrimSpace(args); strings.HasPrefix(args, "{") && json.Valid([]byte(args)) {
		return args
	}
	return "{}"
}

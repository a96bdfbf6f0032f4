package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/sequent-dev/sequent/llm"
)

// An option is a member of a request that some models reject.
type option string

const (
	optionTemperature option = "temperature"
	optionSchema      option = "response_format"
	optionMaxTokens   option = "max_tokens"
	optionImages      option = "images"
	optionToolChoice  option = "tool_choice"
)

// otherMaxTokens returns the newer name of the limit for the older one, and vice
// versa.
func otherMaxTokens(name string) string {
	if name == "max_tokens" {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// request converts a request to the provider's form. The fields are members that
// the library does not support.
func (c *Client) request(r llm.Request) (openai.ChatCompletionRequest, []field) {
	q := openai.ChatCompletionRequest{Model: c.model}
	var extra []field
	var images []llm.Image // of the results since the last other message
	for i, m := range r.Messages {
		q.Messages = append(q.Messages, toWire(m))
		images = append(images, m.Images...)
		// The protocol has no images in results, and nothing may come between results.
		if last := i+1 == len(r.Messages) || r.Messages[i+1].Role != llm.Result; last && len(images) > 0 {
			if !c.rejects(optionImages) {
				q.Messages = append(q.Messages, pictures(images))
			} else {
				q.Messages[len(q.Messages)-1].Content += "\n[You cannot see the images.]"
			}
			images = nil
		}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Schema,
		}})
	}
	if len(q.Tools) > 0 {
		q.ReasoningEffort = c.quirks.toolEffort
		if r.NoCalls && !c.rejects(optionToolChoice) {
			q.ToolChoice = "none"
		}
	}
	if r.Schema != nil {
		extra = append(extra, c.schema(&q, *r.Schema)...)
	}
	if t := r.Temperature; t != nil && !c.quirks.noTemperature && !c.rejects(optionTemperature) {
		// The library omits a temperature of 0.
		raw, err := json.Marshal(max(0, min(*t, c.at.maxTemperature)))
		if err == nil { // NaN has no JSON
			extra = append(extra, field{"temperature", raw})
		}
	}
	if r.MaxTokens > 0 {
		name := c.at.maxTokens
		if c.rejects(optionMaxTokens) {
			name = otherMaxTokens(name)
		}
		extra = append(extra, field{name, json.RawMessage(strconv.Itoa(r.MaxTokens))})
	}
	return q, extra
}

// schema adds a schema to a request, in the strongest form that the model supports.
func (c *Client) schema(q *openai.ChatCompletionRequest, s llm.Schema) []field {
	how := c.at.structured
	if c.rejects(optionSchema) {
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
	// Some providers accept only one system message, and only as the first.
	words := s.InWords()
	if len(q.Messages) > 0 && q.Messages[0].Role == openai.ChatMessageRoleSystem {
		q.Messages[0].Content = strings.TrimSpace(q.Messages[0].Content + "\n\n" + words)
		return nil
	}
	q.Messages = append([]openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleSystem, Content: words}}, q.Messages...)
	return nil
}

// pictures returns a message with the images of the messages before it.
func pictures(images []llm.Image) openai.ChatCompletionMessage {
	parts := []openai.ChatMessagePart{{Type: openai.ChatMessagePartTypeText, Text: "The images of the message before, in order:"}}
	for _, image := range images {
		parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{
			URL: "data:" + image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(image.Data),
		}})
	}
	return openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, MultiContent: parts}
}

// toWire converts a message to the provider's form.
func toWire(m llm.Message) openai.ChatCompletionMessage {
	w := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text, ToolCallID: m.CallID}
	if m.Role == llm.Result {
		w.Content = cmp.Or(m.Text, "(nothing)") // the library omits an empty text
	}
	for _, call := range m.Calls {
		w.ToolCalls = append(w.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: arguments(call.Args)},
		})
	}
	return w
}

// arguments returns the arguments of a call, or {} if they are not a JSON object:
// some services reject a conversation with malformed arguments.
func arguments(args string) string {
	if args = strings.TrimSpace(args); strings.HasPrefix(args, "{") && json.Valid([]byte(args)) {
		return args
	}
	return "{}"
}

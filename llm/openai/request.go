package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/sequent-dev/sequent/llm"
)

// An option is a member of a request that some models reject.
type option string

const (
	optionTemperature option = "temperature"
	optionSchema      option = "response_format"
	optionImages      option = "images"
	optionToolChoice  option = "tool_choice"
)

// A wireMessage is a message of a conversation in the protocol.
type wireMessage struct {
	Role    llm.Role   `json:"role"`
	Content any        `json:"content,omitempty"` // a string, or parts
	CallID  string     `json:"tool_call_id,omitempty"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
}

// An object is a JSON object.
type object = map[string]any

// request returns the members of a request in the provider's form.
func (c *Client) request(r llm.Request) object {
	q := object{"model": c.model, "stream": true}
	if !c.at.noUsageFlag {
		q["stream_options"] = object{"include_usage": true}
	}
	var messages []wireMessage
	var images []llm.Image // of the results since the last other message
	for i, m := range r.Messages {
		messages = append(messages, toWire(m))
		images = append(images, m.Images...)
		// The protocol has no images in results, and nothing may come between results.
		if last := i+1 == len(r.Messages) || r.Messages[i+1].Role != llm.Result; last && len(images) > 0 {
			if !c.rejects(optionImages) {
				messages = append(messages, pictures(images))
			} else {
				messages[len(messages)-1].Content = strings.TrimSpace(m.Text + "\n[You cannot see the images.]")
			}
			images = nil
		}
	}
	var tools []object
	for _, t := range r.Tools {
		tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
	}
	if len(tools) > 0 {
		q["tools"] = tools
		if c.quirks.toolEffort != "" {
			q["reasoning_effort"] = c.quirks.toolEffort
		}
		if r.NoCalls && !c.rejects(optionToolChoice) {
			q["tool_choice"] = "none"
		}
	}
	if r.Schema != nil {
		messages = c.schema(q, messages, *r.Schema)
	}
	q["messages"] = messages
	if t := r.Temperature; t != nil && !c.quirks.noTemperature && !c.rejects(optionTemperature) {
		q["temperature"] = max(0, min(*t, c.at.maxTemperature))
	}
	return q
}

// schema adds a schema to a request, in the strongest form that the model supports, and returns
// its messages.
func (c *Client) schema(q object, messages []wireMessage, s llm.Schema) []wireMessage {
	how := c.at.structured
	if c.rejects(optionSchema) {
		how = byWords
	}
	if how == bySchema {
		q["response_format"] = object{"type": "json_schema", "json_schema": object{"name": s.Name, "schema": s.JSON, "strict": true}}
		if c.at.requireParameters {
			q["provider"] = object{"require_parameters": true}
		}
		return messages
	}
	if how == byObject {
		q["response_format"] = object{"type": "json_object"}
	}
	// Some providers accept only one system message, and only as the first.
	words := "Answer with nothing but one JSON object, without a Markdown fence, that fits this JSON Schema:\n" + string(s.JSON)
	if len(messages) > 0 && messages[0].Role == llm.System {
		text, _ := messages[0].Content.(string)
		messages[0].Content = strings.TrimSpace(text + "\n\n" + words)
		return messages
	}
	return append([]wireMessage{{Role: llm.System, Content: words}}, messages...)
}

// pictures returns a message with the images of the messages before it.
func pictures(images []llm.Image) wireMessage {
	parts := []object{{"type": "text", "text": "The images of the message before, in order:"}}
	for _, image := range images {
		url := "data:" + image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
		parts = append(parts, object{"type": "image_url", "image_url": object{"url": url}})
	}
	return wireMessage{Role: llm.User, Content: parts}
}

// toWire converts a message to the protocol's form.
func toWire(m llm.Message) wireMessage {
	w := wireMessage{Role: m.Role, CallID: m.CallID}
	if m.Role == llm.Result {
		m.Text = cmp.Or(m.Text, "(nothing)") // some services reject a result without text
	}
	if m.Text != "" {
		w.Content = m.Text
	}
	for _, call := range m.Calls {
		out := toolCall{ID: call.ID, Type: "function"}
		out.Function.Name, out.Function.Arguments = call.Name, argumentText(arguments(call.Args))
		w.Calls = append(w.Calls, out)
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

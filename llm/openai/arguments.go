package openai

import (
	"bytes"
	"encoding/json"

	"github.com/sashabaranov/go-openai"
)

// A toolCall is a call, or a piece of one. In the protocol its arguments are a string
// that contains an object; some services send the object itself.
type toolCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string       `json:"name"`
		Arguments argumentText `json:"arguments"`
	} `json:"function"`
}

// An argumentText is the arguments of a call, or a piece of them.
type argumentText string

// UnmarshalJSON reads a string. It keeps any other value as it is written.
func (a *argumentText) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil { // also null
		*a = argumentText(s)
	} else {
		*a = argumentText(raw)
	}
	return nil
}

// toolCalls returns calls that the library has decoded.
func toolCalls(decoded []openai.ToolCall) []toolCall {
	var calls []toolCall
	for _, d := range decoded {
		c := toolCall{Index: d.Index, ID: d.ID}
		c.Function.Name, c.Function.Arguments = d.Function.Name, argumentText(d.Function.Arguments)
		calls = append(calls, c)
	}
	return calls
}

// decode reads an answer that was not streamed.
func decode(raw []byte) (res openai.ChatCompletionResponse, err error) {
	if err = json.Unmarshal(raw, &res); err == nil {
		return res, nil
	}
	var whole any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&whole) != nil || !stringify(whole) {
		return res, err
	}
	if raw, err = json.Marshal(whole); err == nil {
		res = openai.ChatCompletionResponse{}
		err = json.Unmarshal(raw, &res)
	}
	return res, err
}

// stringify replaces the arguments of calls that are objects with strings, and reports
// whether there were any.
func stringify(v any) (changed bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			changed = stringify(e) || changed
		}
	case map[string]any:
		if function, ok := v["function"].(map[string]any); ok {
			if args, ok := function["arguments"].(map[string]any); ok {
				if text, err := json.Marshal(args); err == nil {
					function["arguments"], changed = string(text), true
				}
			}
		}
		for _, e := range v {
			changed = stringify(e) || changed
		}
	}
	return changed
}

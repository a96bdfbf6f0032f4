package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Structured asks for an answer in the form of a schema and returns it decoded.
// The answer is taken from whatever the model puts around it, such as a fence of
// Markdown, and checked against the schema, whether or not the provider says that
// it has done so. A model whose answer does not fit is told what is wrong and
// asked once more; if that does not help, the error has the code CodeBadAnswer.
//
// The Response is the last one, with the usage of both. Structured panics if the
// schema is no JSON Schema.
func Structured[T any](ctx context.Context, m Model, r Request, s Schema) (value T, last Response, err error) {
	form := compile(s)
	r.Schema = &s
	var used Usage
	for try := 1; ; try++ {
		last, err = m.Chat(ctx, r)
		used = used.Plus(last.Usage)
		last.Usage = used
		if err != nil {
			return value, last, err
		}
		raw, misfit := form.find(last.Message.Text)
		if misfit == nil {
			if misfit = json.Unmarshal(raw, &value); misfit == nil {
				return value, last, nil
			}
		}
		if try == 2 {
			return value, last, &Error{
				Code: CodeBadAnswer, Err: misfit,
				Msg: "the model did not answer in the form that it was asked for",
				Fix: "try again, or choose another model",
			}
		}
		var zero T
		value = zero
		r.Messages = slices.Clip(r.Messages)
		if text := last.Message.Text; text != "" {
			r.Messages = append(r.Messages, Message{Role: Assistant, Text: text})
		}
		r.Messages = append(r.Messages, Message{Role: User, Text: "That cannot be used: " + misfit.Error() +
			". Answer again, with nothing but one JSON object in the form that was asked for."})
	}
}

// InWords asks for a schema in words, for providers that cannot hold a model to it.
func (s Schema) InWords() string {
	return "Answer with nothing but one JSON object, without a Markdown fence, that fits this JSON Schema:\n" + string(s.JSON)
}

// A form is a compiled schema.
type form struct{ schema *jsonschema.Resolved }

func compile(s Schema) form {
	var schema jsonschema.Schema
	if err := json.Unmarshal(s.JSON, &schema); err != nil {
		panic(fmt.Sprintf("llm: the schema %s cannot be read: %v", s.Name, err))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("llm: the schema %s: %v", s.Name, err))
	}
	return form{resolved}
}

// find returns the first object in a text that fits the form, or what is wrong
// with the first object there is.
func (f form) find(text string) (json.RawMessage, error) {
	var misfit error
	for raw := range objects(text) {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			continue // numbers beyond a float
		}
		err := f.schema.Validate(value)
		if err == nil {
			return raw, nil
		}
		if misfit == nil {
			misfit = fmt.Errorf("it does not fit the schema (%w)", err)
		}
	}
	switch {
	case misfit != nil:
		return nil, misfit
	case strings.Contains(text, "{"):
		return nil, errors.New("the JSON in it is malformed or incomplete")
	}
	return nil, errors.New("there is no JSON object in it")
}

// objects yields the JSON objects in a text, from the left, none inside another.
// It looks at so many opening braces only, for each may cost the whole text.
func objects(text string) func(yield func(json.RawMessage) bool) {
	const most = 64
	return func(yield func(json.RawMessage) bool) {
		for range most {
			i := strings.IndexByte(text, '{')
			if i < 0 {
				return
			}
			text = text[i:]
			var raw json.RawMessage
			if err := json.NewDecoder(strings.NewReader(text)).Decode(&raw); err != nil {
				text = text[1:]
				continue
			}
			if !yield(raw) {
				return
			}
			text = text[len(raw):]
		}
	}
}

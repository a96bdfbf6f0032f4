package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Structured requests an answer that matches a schema and returns it decoded. It
// ignores text around the JSON object, such as a Markdown fence, and validates
// the object even if the provider enforces schemas. If the answer does not match,
// Structured tells the model why and asks once more. If the second answer does
// not match either, the error has the code CodeBadAnswer.
//
// The Response is the last one; its Usage is the sum of both requests. Structured
// panics if s is not a valid JSON Schema.
func Structured[T any](ctx context.Context, m Model, r Request, s Schema) (value T, last Response, err error) {
	const maxAttempts = 2
	schema := compile(s)
	r.Schema = &s
	var used Usage
	for attempt := 1; ; attempt++ {
		last, err = m.Chat(ctx, r)
		used = used.Plus(last.Usage)
		last.Usage = used
		if err != nil {
			return value, last, err
		}
		raw, mismatch := find(schema, last.Message.Text)
		if mismatch == nil {
			if mismatch = json.Unmarshal(raw, &value); mismatch == nil {
				return value, last, nil
			}
		}
		if attempt == maxAttempts {
			return value, last, &Error{
				Code: CodeBadAnswer, Err: mismatch,
				Msg: "the model's answer does not match the requested schema",
				Fix: "try again, or choose another model",
			}
		}
		var zero T
		value = zero
		r.Messages = slices.Clip(r.Messages)
		if text := last.Message.Text; text != "" {
			r.Messages = append(r.Messages, Message{Role: Assistant, Text: text})
		}
		r.Messages = append(r.Messages, Message{Role: User, Text: "That cannot be used: " + mismatch.Error() +
			". Answer again, with nothing but one JSON object in the form that was asked for."})
	}
}

// InWords returns an instruction to answer in the schema's form, for providers
// that do not enforce schemas.
func (s Schema) InWords() string {
	return "Answer with nothing but one JSON object, without a Markdown fence, that fits this JSON Schema:\n" + string(s.JSON)
}

func compile(s Schema) *jsonschema.Resolved {
	var schema jsonschema.Schema
	if err := json.Unmarshal(s.JSON, &schema); err != nil {
		panic(fmt.Sprintf("llm: schema %s is malformed: %v", s.Name, err))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("llm: schema %s: %v", s.Name, err))
	}
	return resolved
}

// find returns the first object in text that matches the schema. If none does,
// the error says what is wrong with the first object.
func find(schema *jsonschema.Resolved, text string) (json.RawMessage, error) {
	var mismatch error
	for raw := range objects(text) {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			continue // a number that overflows float64
		}
		err := schema.Validate(value)
		if err == nil {
			return raw, nil
		}
		if mismatch == nil {
			mismatch = fmt.Errorf("it does not fit the schema (%w)", err)
		}
	}
	switch {
	case mismatch != nil:
		return nil, mismatch
	case strings.Contains(text, "{"):
		return nil, errors.New("the JSON in it is malformed or incomplete")
	}
	return nil, errors.New("there is no JSON object in it")
}

// objects yields the outermost JSON objects in a text, from the left. It tries at
// most maxBraces opening braces, because each can cost a scan of the whole text.
func objects(text string) iter.Seq[json.RawMessage] {
	const maxBraces = 64
	return func(yield func(json.RawMessage) bool) {
		for range maxBraces {
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

package status

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Model writes thoughts. It is safe for concurrent use.
type Model interface {
	// Write answers a prompt. Temporary failures are its own to repeat. An error
	// is a [*ModelError], or anything else for a fault of the program; cancelling
	// ctx ends it.
	Write(ctx context.Context, p Prompt) (Answer, error)
}

// A Prompt is what a model is asked.
type Prompt struct {
	Model       string  // the caller's choice; empty leaves it to the Model
	Temperature float64 // from 0 to 2
	System      string  // what the model is for
	User        string  // what it is to write now
	// Schema is the JSON Schema of the answer, for models that can be held to
	// one. Others may answer with anything: an answer that is no JSON is taken for
	// the thought itself.
	Schema json.RawMessage
}

// An Answer is what a model wrote.
type Answer struct {
	Text  string
	Model string // which one it was
}

// A ModelError says why a model wrote nothing.
type ModelError struct {
	Msg   string // for the client
	Setup bool   // no model was asked: something has to be configured first
	Err   error  // the cause, for logs
}

// Error returns what the client is told.
func (e *ModelError) Error() string {
	if e.Setup {
		return e.Msg
	}
	if e.Msg == "" {
		return notGenerated
	}
	return notGenerated + ": " + e.Msg
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// notGenerated is the contract's word for any failure of a model that was asked.
const notGenerated = "Failed to generate thought with LLM"

// noModel is the Model of who has none.
type noModel struct{}

func (noModel) Write(context.Context, Prompt) (Answer, error) {
	return Answer{}, &ModelError{Setup: true, Msg: "No model is configured; pass use_llm: false to record a thought of your own"}
}

// form is the schema of an answer. Providers that hold a model to a schema want
// every property required.
const form = `{"type":"object","properties":{` +
	`"thought":{"type":"string","description":"The step."},` +
	`"confidence":{"type":"number","minimum":0,"maximum":1,"description":"How sure you are that the step is right, from 0 to 1."}},` +
	`"required":["thought","confidence"],"additionalProperties":false}`

// read takes an answer apart. The confidence is nil where the model gave none, or
// none that means something. A thought has at most limit bytes, if that is above 0.
func (a Answer) read(limit int) (thought string, confidence *float64, err error) {
	thought = strings.TrimSpace(a.Text)
	var said struct {
		Thought    *string         `json:"thought"`
		Confidence json.RawMessage `json:"confidence"`
	}
	switch raw := object(thought); {
	case raw != nil && json.Unmarshal(raw, &said) == nil && said.Thought != nil:
		thought, confidence = strings.TrimSpace(*said.Thought), share(said.Confidence)
	case strings.HasPrefix(thought, "{"):
		return "", nil, unusable("the model's answer is malformed")
	}
	switch {
	case thought == "":
		return "", nil, unusable("the model's thought is empty")
	case limit > 0 && len(thought) > limit:
		return "", nil, unusable(fmt.Sprintf("the model's thought has %d bytes, the limit is %d", len(thought), limit))
	}
	return thought, confidence, nil
}

func unusable(why string) error {
	return &ModelError{Msg: why + "; repeat the call, or choose another model"}
}

// object returns the JSON object that an answer is, or that is in a fence of
// Markdown or behind a few words; nil if there is none.
func object(text string) json.RawMessage {
	i := strings.IndexByte(text, '{')
	if i < 0 {
		return nil
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(text[i:])).Decode(&raw) != nil {
		return nil
	}
	return raw
}

// share reads a number from 0 to 1, which may be in quotes.
func share(raw json.RawMessage) *float64 {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 1 {
		return nil
	}
	return &n
}

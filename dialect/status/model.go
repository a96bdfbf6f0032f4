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
	// Write answers a prompt. It repeats requests after temporary failures itself. An
	// error is a [*ModelError], or an internal error. Write ends if ctx is cancelled.
	Write(ctx context.Context, p Prompt) (Answer, error)
}

// A Prompt is a request to a model.
type Prompt struct {
	Model       string  // the caller's choice; empty leaves it to the Model
	Temperature float64 // from 0 to 2
	System      string  // the system prompt
	User        string  // the description of the thought
	// Schema is the JSON Schema of the answer, for models that support one. An answer
	// that is not JSON is taken as the thought.
	Schema json.RawMessage
	// Piece, if not nil, is called with each piece of the answer as it comes, in whole characters. After the
	// first piece, Write does not ask again: an answer that breaks off is an error.
	Piece func(text string)
}

// An Answer is the answer of a model.
type Answer struct {
	Text  string
	Model string // its name
}

// A ModelError is the reason why a model wrote nothing.
type ModelError struct {
	Msg   string // for the client
	Setup bool   // no request was sent: a model must be configured first
	Err   error  // the cause, for logs
}

// Error returns the message for the client.
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

// notGenerated is the message of the contract for a request that failed.
const notGenerated = "Failed to generate thought with LLM"

// noModel is the Model if none is configured.
type noModel struct{}

func (noModel) Write(context.Context, Prompt) (Answer, error) {
	return Answer{}, &ModelError{Setup: true, Msg: "No model is configured; pass use_llm: false to record a thought of your own"}
}

// form is the schema of an answer. Providers that enforce a schema want every property
// required.
const form = `{"type":"object","properties":{` +
	`"thought":{"type":"string","description":"The step."},` +
	`"confidence":{"type":"number","minimum":0,"maximum":1,"description":"How sure you are that the step is right, from 0 to 1."}},` +
	`"required":["thought","confidence"],"additionalProperties":false}`

// read parses an answer. Confidence is nil if the answer has none or an invalid one. A
// thought has at most limit bytes if limit is greater than 0.
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

// object returns the JSON object in an answer, which may be in a Markdown fence or after
// some words; nil if there is none.
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

// share parses a number from 0 to 1, which may be in quotes.
func share(raw json.RawMessage) *float64 {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 1 {
		return nil
	}
	return &n
}

// Package llm defines an interface to language models: a conversation in, an
// answer out, piece by piece. Package llm/openai implements it over the
// Chat Completions protocol, package llm/llmtest with a script for tests.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// A Model answers conversations. It is safe for concurrent use.
//
// Errors are of type [*Error]. An implementation retries temporary failures
// before it returns one.
type Model interface {
	// Name returns the name by which a user selects the model.
	Name() string
	// Stream yields the answer in pieces. Only the last event has a Response,
	// with the complete answer. An error ends the stream without one. Breaking
	// out of the loop cancels the request.
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// A Request is the input of one call to a model.
type Request struct {
	Messages []Message // the conversation, oldest first
	Tools    []Tool    // tools that the model may call; nil for none
	NoCalls  bool      // the model must answer without a call; it still reads of the tools
	// Schema is the form of the answer; nil means text. Not every provider
	// enforces a schema.
	Schema *Schema
	// Temperature is the sampling temperature, from 0 to 2. Nil means the
	// provider's default, which some models insist on.
	Temperature *float64
}

// A Role identifies the author of a message.
type Role string

// The roles of messages.
const (
	System    Role = "system"    // instructions of the program
	User      Role = "user"      // a question
	Assistant Role = "assistant" // an answer of the model
	Result    Role = "tool"      // the result of a tool call
)

// A Message is one turn of a conversation.
type Message struct {
	Role      Role   `json:"role"`
	Text      string `json:"text,omitzero"`
	Reasoning string `json:"reasoning,omitzero"` // an assistant's reasoning before the answer; not sent back
	Calls     []Call `json:"calls,omitempty"`    // an assistant's tool calls
	CallID    string `json:"callId,omitzero"`    // the call that a tool message answers
	// Refusal says in a few words why a tool did nothing, as in "path missing", for
	// programs: the model reads Text. Only tool messages have it.
	Refusal string `json:"refusal,omitzero"`
	// Images are pictures that belong to the text of a user or tool message. They are
	// not part of its JSON.
	Images []Image `json:"-"`
}

// An Image is a picture for a model that can see. Others get the text alone.
type Image struct {
	MediaType string // such as image/png
	Data      []byte
}

// A Tool is a function that a model may call.
type Tool struct {
	Name        string          // letters, digits, _ and -, at most 64
	Description string          // its purpose, and when to use it
	Schema      json.RawMessage // JSON Schema of the arguments, an object
}

// A Call is a tool call that a model requests.
type Call struct {
	ID   string `json:"id"` // not empty, and unique in its message
	Name string `json:"name"`
	Args string `json:"args"` // should be a JSON object; verbatim from the model, so it may be malformed
}

// A Schema is the form of an answer.
type Schema struct {
	Name string // letters, digits, _ and -
	// JSON is a JSON Schema of an object. Providers that enforce schemas demand
	// that every property is required and additionalProperties is false.
	JSON json.RawMessage
}

// A Response is a model's complete answer.
type Response struct {
	Message Message // its role is Assistant
	Stop    Stop
	Usage   Usage
	Model   string // name of the model that answered, as the provider reports it
}

// A Stop is the reason why an answer ended.
type Stop string

// The values of Stop.
const (
	StopEnd    Stop = "end"    // the answer is complete
	StopCalls  Stop = "calls"  // the model waits for the results of tool calls
	StopLength Stop = "length" // the answer reached its length limit
)

// Usage counts tokens as reported by the provider; 0 where it reports nothing.
type Usage struct {
	Input     int `json:"input"`              // tokens sent
	Output    int `json:"output"`             // tokens of the answer, reasoning included
	Reasoning int `json:"reasoning,omitzero"` // the part of Output that is reasoning
	Cached    int `json:"cached,omitzero"`    // the part of Input from the provider's cache
}

// Total returns the sum of input and output tokens.
func (u Usage) Total() int { return u.Input + u.Output }

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.Reasoning + v.Reasoning, u.Cached + v.Cached}
}

// An Event is a piece of a streamed answer: exactly one field is set.
type Event struct {
	Text      string     // the next piece of the answer
	Reasoning string     // the next piece of the reasoning before the answer
	Call      *CallPiece // the next piece of a tool call
	Retry     *Retry     // the request is retried; discard all earlier pieces
	Response  *Response  // the complete answer; the last event
}

// A CallPiece is a piece of a tool call that the model is writing. The pieces of
// several calls may alternate. The call is not complete before the Response, and may
// never be: an answer that breaks off has no calls.
type CallPiece struct {
	Index int    // position of the call in the answer, from 0
	Name  string // name of the tool, as far as it has arrived
	Args  string // the next piece of the arguments, not empty
}

// A Retry announces another attempt after a failed one.
type Retry struct {
	Attempt int   // number of the failed attempt, from 1
	Err     error // its error
}

// Package llm is what the rest of the module needs of language models: a
// conversation in, an answer out, whole or as it comes. Package llm/openai asks
// real models, package llm/llmtest plays them.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// A Model answers conversations. It is safe for concurrent use.
//
// What goes wrong is an [*Error]. Temporary failures have been tried again, as
// the implementation is configured, before one is returned.
type Model interface {
	// Name returns the model's name as a person would write it to choose it.
	Name() string
	// Chat returns the whole answer.
	Chat(ctx context.Context, r Request) (Response, error)
	// Stream yields the answer as it comes. The last event, and no other, has
	// the whole in Response, unless an error ends the stream. A loop that is
	// left early cancels the request.
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// A Request is one question to a model.
type Request struct {
	Messages []Message // the conversation so far, oldest first
	Tools    []Tool    // what the model may call; nil for none
	// Schema is the form of the answer; nil means text. A provider that cannot
	// hold a model to a schema is asked in words, so use [Structured], which
	// checks what comes.
	Schema *Schema
	// Temperature is how much the answer may vary, from 0 to 2. Nil leaves it to
	// the provider, and so does a model that refuses to be told.
	Temperature *float64
	MaxTokens   int // of the answer, its reasoning included; 0 leaves it to the provider
}

// A Role says who speaks.
type Role string

// The roles of messages.
const (
	System    Role = "system"    // what the program tells the model
	User      Role = "user"      // what is asked
	Assistant Role = "assistant" // what the model said
	Result    Role = "tool"      // what a tool answered
)

// A Message is one turn of a conversation.
type Message struct {
	Role      Role   `json:"role"`
	Text      string `json:"text,omitzero"`
	Reasoning string `json:"reasoning,omitzero"` // what an assistant thought before it spoke; never sent back
	Calls     []Call `json:"calls,omitempty"`    // the tools that an assistant wants called
	CallID    string `json:"callId,omitzero"`    // the call that a result answers
}

// A Tool is a function that a model may ask to be called.
type Tool struct {
	Name        string          // letters, digits, _ and -, at most 64
	Description string          // what it is for, and when to use it
	Schema      json.RawMessage // JSON Schema of the arguments, an object
}

// A Call is a model's wish to call a tool.
type Call struct {
	ID   string `json:"id"` // not empty, and unique in its message
	Name string `json:"name"`
	Args string `json:"args"` // meant to be a JSON object, as the model wrote it: it may be no JSON at all
}

// A Schema is the form of an answer.
type Schema struct {
	Name string // letters, digits, _ and -
	// JSON is a JSON Schema of an object. For providers that hold the model to
	// it, every property is required and additionalProperties is false.
	JSON json.RawMessage
}

// A Response is a model's whole answer.
type Response struct {
	Message Message // its role is Assistant
	Stop    Stop
	Usage   Usage
	Model   string // which model answered, as the provider says it
}

// A Stop says why an answer ended.
type Stop string

// The values of Stop.
const (
	StopEnd    Stop = "end"    // the model was done
	StopCalls  Stop = "calls"  // the model waits for the results of calls
	StopLength Stop = "length" // there was no room for more
)

// Usage counts tokens as the provider counts them. What it does not tell is 0.
type Usage struct {
	Input     int `json:"input"`              // of what was sent
	Output    int `json:"output"`             // of the answer, reasoning included
	Reasoning int `json:"reasoning,omitzero"` // the part of Output that is reasoning
	Cached    int `json:"cached,omitzero"`    // the part of Input that the provider had at hand
}

// Total returns input and output together.
func (u Usage) Total() int { return u.Input + u.Output }

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.Reasoning + v.Reasoning, u.Cached + v.Cached}
}

// An Event is a piece of a streamed answer: exactly one field is set.
type Event struct {
	Text      string    // the next piece of the answer
	Reasoning string    // the next piece of what the model thinks before it speaks
	Retry     *Retry    // the request is made again: what came before is void
	Response  *Response // the whole answer; nothing follows
}

// A Retry tells that a request failed and will be made again.
type Retry struct {
	Attempt int   // the one that failed, from 1
	Err     error // why
}

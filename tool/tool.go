// Package tool describes functions that agents call with JSON: what a model is
// told about them, how their arguments are decoded, and what they answer.
//
// A tool's contract is a file. Its tool.json is published byte for byte, and
// [New] refuses to build a tool whose Go arguments disagree with it.
package tool

import (
	"context"
	"encoding/json"
)

// A Spec is what a model is told about a tool: exactly the published JSON.
type Spec struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage // bytes as published
	OutputSchema json.RawMessage // bytes as published; nil if there is none
	Annotations  Annotations
}

// Annotations are the hints that a client may show or act upon.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// A Tool is a function that an agent can call.
type Tool struct {
	Spec
	// Lane names the lane of a call. A transport begins the calls of a connection
	// in the order in which they came, and within a lane each begins when the one
	// before it has ended. Calls in different lanes run beside each other, for
	// tools that wait for a language model. The empty name is the connection's own
	// lane; a nil Lane puts all calls there.
	Lane func(c Call) string
	// Call answers one call. An error is either a *ProtocolError, which a
	// transport reports in its own way, or a fault of ours, of which a client
	// learns nothing but that it happened. Refusals are replies with Failed set.
	Call func(ctx context.Context, c Call) (Reply, error)
}

// A Call is one invocation of a tool.
type Call struct {
	Args json.RawMessage // the arguments object as it came; empty or null means none
	// Checked means that Args are known to be valid JSON in UTF-8, so that the tool
	// does not check this again. If it is set and not true, the tool misreads Args.
	Checked bool
	Caller  Caller
	Unknown []string // names of argument fields that the contract does not have; set by New
	// Progress, if not nil, tells the client how far the call is: done out of
	// total, in whatever unit, and what is being done. A total of 0 is one that is
	// not known, and the message may be empty. Done must grow from one report to
	// the next: one that does not, or that comes after the reply, is not sent. It
	// may be called by several goroutines, does not wait, and is nil if the client
	// has not asked.
	Progress func(message string, done, total float64)
}

// A Caller says who is calling.
type Caller struct {
	Owner string // authenticated subject; empty for the local user
	Scope Scope  // what a call without a session belongs to
}

// A Scope names the conversation that calls without a session belong to.
// Two scopes never share a thought. The zero Scope is none.
type Scope struct {
	Name string
	// Exclusive means that this process alone uses the scope, so that what it
	// knows of the scope's current session needs no second look.
	Exclusive bool
}

// A Reply is an answer within a tool's contract.
type Reply struct {
	Text   string          // for a model
	JSON   json.RawMessage // for a program (structuredContent); nil for none
	Failed bool            // a refusal that the caller can correct (isError)
}

// A ProtocolError is an answer outside a tool's contract; transports report it
// as such (JSON-RPC: code, message, data).
type ProtocolError struct {
	Code    int
	Message string
	Data    json.RawMessage // nil for none
}

// Error returns the message.
func (e *ProtocolError) Error() string { return e.Message }

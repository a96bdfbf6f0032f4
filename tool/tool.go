// Package tool describes functions that agents call with JSON: their published
// description, the decoding of their arguments, and their replies.
//
// A tool's contract is a file. Its tool.json is published byte for byte, and
// [New] panics if the Go arguments do not match it.
package tool

import (
	"context"
	"encoding/json"
)

// A Spec is the published description of a tool.
type Spec struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`            // bytes as published
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"` // bytes as published; nil if there is none
	Annotations  Annotations     `json:"annotations"`
	// App says how clients that show pages use the tool (MCP Apps). Only they are
	// offered a tool with an App, and without annotations: VS Code shows no page of a
	// tool that has some. Nil means a tool for every client.
	App *App `json:"-"`
}

// An App is what a tool has to do with a page in a chat.
type App struct {
	Page string `json:"resourceUri,omitempty"` // URI of the resource that has the page; empty for none
	// Visibility says who may call the tool: "model", "app", or both, which is what
	// nil means.
	Visibility []string `json:"visibility,omitempty"`
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
	// Heavy says that calls may compute for long, such as searches and reads of whole sessions.
	// Servers limit how many of them run at a time, so that other calls are not behind them.
	Heavy bool
	// Lane returns the lane of a call. A transport starts the calls of a connection
	// in the order of arrival, and a call of a lane when the previous one of the
	// lane has ended. Calls in different lanes run concurrently, for tools that wait
	// for a language model. The empty name is the connection's own lane; a nil Lane
	// puts all calls there.
	Lane func(c Call) string
	// Call answers one call. A refusal is a reply with Failed set. An error is a
	// *ProtocolError, which a transport reports as an error of its protocol, or an
	// internal error, whose details a transport does not send to the client.
	Call func(ctx context.Context, c Call) (Reply, error)
}

// AsHeavy returns the tool with Heavy set.
func (t Tool) AsHeavy() Tool {
	t.Heavy = true
	return t
}

// A Call is one invocation of a tool.
type Call struct {
	Args json.RawMessage // the arguments object as received; empty or null means none
	// Checked means that the caller has checked that Args are valid JSON in UTF-8,
	// without escapes of half a surrogate pair, so that the tool does not check it
	// again. If they are not, the tool misreads them.
	Checked bool
	Caller  Caller
	Unknown []string // names of arguments that the schema does not have; set by New
	// Progress reports to the client how much of the call is done, in any unit, and
	// what is being done. A total of 0 means unknown; message may be empty. A report
	// is dropped if done is not greater than in the previous one, or after the reply.
	// Progress does not block and is safe for concurrent use. It is nil if the client
	// has not asked for reports.
	Progress func(message string, done, total float64)
	// Text reports the next piece of a text that the call produces, such as a thought that
	// a language model writes. Pieces arrive in order, several together if they follow
	// each other quickly, and all of them before the reply. Text does not block and is
	// safe for concurrent use. It is nil if the client has not asked for reports.
	Text func(piece string)
}

// A Caller identifies the caller.
type Caller struct {
	Owner string // authenticated subject; empty for the local user
	Scope Scope  // conversation of calls that name no session
	Agent string // label of the agent, or name of the client; empty if neither is known
}

// A Scope identifies the conversation of calls that name no session. Two scopes
// never share a thought. The zero Scope means none.
type Scope struct {
	Name string
	// Exclusive means that no other process uses the scope, so that its current
	// session can be cached.
	Exclusive bool
	// Project is where the calls come from, such as the URL of a repository or a
	// directory. The same Name in another project is another scope, and what is read back
	// stays in the project. Empty means that it is not known.
	Project string
}

// A Reply is the result of a call, as the tool's contract defines it.
type Reply struct {
	Text   string          // for a model
	JSON   json.RawMessage // for a program (structuredContent); nil for none
	Failed bool            // a refusal that the caller can correct (isError)
	Code   string          // stable code of a refusal, for logs; clients read it in Text or JSON, if at all
	// Beside are texts for a model that are not part of the contract, such as notes of
	// people, in blocks of their own after Text.
	Beside []string
	// Images are pictures for a model that can see, after Text and Beside.
	Images []Image
}

// An Image is a picture in a reply.
type Image struct {
	MediaType string // such as image/png
	Data      []byte
}

// A ProtocolError is a result outside a tool's contract. Transports report it as an
// error of their protocol (JSON-RPC: code, message, data).
type ProtocolError struct {
	Code    int
	Message string
	Data    json.RawMessage // nil for none
}

// Error returns the message.
func (e *ProtocolError) Error() string { return e.Message }

package protocol

import (
	"encoding/json"
	"fmt"
	"time"
)

// The codes of errors, of JSON-RPC and of MCP.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeNoResource         = -32002 // up to LastHandshake; later versions do not allow it
	CodeTooMany            = -32010 // of this server: a client exceeds its limits
	CodeFull               = -32011 // of this server: a limit for all clients is reached, or the server ends
	CodeHeaderMismatch     = -32020
	CodeUnsupportedVersion = -32022
)

// An Error is an error as a client sees it.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"` // valid JSON on one line; nil for none

	RetryAfter time.Duration `json:"-"` // wait before a repeated request; 0 if unknown
	Reason     string        `json:"-"` // stable code, for logs; empty if Code says enough
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errors of a line that is not a valid message.
var (
	errNotJSON    = &Error{Code: CodeParse, Message: "parse error: the message is not JSON"}
	errNotUTF8    = &Error{Code: CodeParse, Message: "parse error: the message is not valid UTF-8"}
	errBatch      = InvalidRequest("batches are not supported; send one message at a time")
	errNotObject  = InvalidRequest("a message is a JSON object")
	errVersion    = InvalidRequest(`"jsonrpc" must be "2.0"`)
	errID         = InvalidRequest("an id is a string or a number")
	errNoMethod   = InvalidRequest("the method is missing")
	errMethodKind = InvalidRequest("the method is not a string")
)

// ErrUninitialized answers a request of an older client before its handshake.
var ErrUninitialized = InvalidRequest(
	"send initialize first, or with each request the _meta of protocol version " + FirstModern)

// ErrInitialized answers a second handshake.
var ErrInitialized = InvalidRequest("initialize was already received")

// ErrCancelled answers a cancelled request on a transport that needs an answer.
var ErrCancelled = &Error{Code: CodeInternal, Message: "the request was cancelled"}

// ErrEnding answers a request for which the server has no time left.
var ErrEnding = &Error{Code: CodeFull, Message: "the server is shutting down; try again", RetryAfter: time.Second, Reason: "ending"}

// InvalidRequest returns the error for an invalid message.
func InvalidRequest(why string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "invalid request: " + why}
}

// Because returns the error for a message that is not allowed, with the stable code of why.
func Because(reason, why string) *Error {
	e := InvalidRequest(why)
	e.Reason = reason
	return e
}

// InvalidParams returns the error for invalid params.
func InvalidParams(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// MethodNotFound returns the error for a method that is not served.
func MethodNotFound(method string) *Error {
	return &Error{Code: CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
}

// UnsupportedVersion returns the error for a version that is not served.
func UnsupportedVersion(requested string) *Error {
	data, _ := Marshal(struct { // strings cannot fail
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{Versions(), requested})
	return &Error{Code: CodeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
}

// Milliseconds returns a duration in milliseconds, rounded up.
func Milliseconds(d time.Duration) int64 {
	return (d + time.Millisecond - 1).Milliseconds()
}

package mcpserver

import (
	"encoding/json"
	"fmt"
	"time"
)

// The codes of errors, of JSON-RPC and of MCP.
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeNoResource         = -32002 // up to LastHandshake; later versions do not allow it
	codeTooMany            = -32010 // of this server: a client exceeds its limits
	codeFull               = -32011 // of this server: a limit for all clients is reached, or the server ends
	codeHeaderMismatch     = -32020
	codeUnsupportedVersion = -32022
)

// A rpcError is an error as a client sees it.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"` // valid JSON on one line; nil for none

	RetryAfter time.Duration `json:"-"` // wait before a repeated request; 0 if unknown
	Reason     string        `json:"-"` // stable code, for logs; empty if Code says enough
}

// Error returns the message.
func (e *rpcError) Error() string { return e.Message }

// Errors of a line that is not a valid message.
var (
	errNotJSON    = &rpcError{Code: codeParse, Message: "parse error: the message is not JSON"}
	errNotUTF8    = &rpcError{Code: codeParse, Message: "parse error: the message is not valid UTF-8"}
	errBatch      = invalidRequest("batches are not supported; send one message at a time")
	errNotObject  = invalidRequest("a message is a JSON object")
	errVersion    = invalidRequest(`"jsonrpc" must be "2.0"`)
	errID         = invalidRequest("an id is a string or a number")
	errNoMethod   = invalidRequest("the method is missing")
	errMethodKind = invalidRequest("the method is not a string")
)

// ErrUninitialized answers a request of an older client before its handshake.
var errUninitialized = invalidRequest(
	"send initialize first, or with each request the _meta of protocol version " + firstModern)

// ErrInitialized answers a second handshake.
var errInitialized = invalidRequest("initialize was already received")

// ErrCancelled answers a cancelled request on a transport that needs an answer.
var errCancelled = &rpcError{Code: codeInternal, Message: "the request was cancelled"}

// ErrEnding answers a request for which the server has no time left.
var errEnding = &rpcError{Code: codeFull, Message: "the server is shutting down; try again", RetryAfter: time.Second, Reason: "ending"}

// refusedAs begins the text of errors for invalid messages.
const refusedAs = "invalid request: "

// invalidRequest returns the error for an invalid message.
func invalidRequest(why string) *rpcError {
	return &rpcError{Code: codeInvalidRequest, Message: refusedAs + why}
}

// because returns the error for a message that is not allowed, with the stable code of why.
func because(reason, why string) *rpcError {
	e := invalidRequest(why)
	e.Reason = reason
	return e
}

// invalidParams returns the error for invalid params.
func invalidParams(format string, args ...any) *rpcError {
	return &rpcError{Code: codeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// methodNotFound returns the error for a method that is not served.
func methodNotFound(method string) *rpcError {
	return &rpcError{Code: codeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
}

// unsupportedVersion returns the error for a version that is not served.
func unsupportedVersion(requested string) *rpcError {
	data, _ := marshal(struct { // strings cannot fail
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{versions(), requested})
	return &rpcError{Code: codeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
}

// milliseconds returns a duration in milliseconds, rounded up.
func milliseconds(d time.Duration) int64 {
	return (d + time.Millisecond - 1).Milliseconds()
}

package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/tool"
)

// The codes of errors, of JSON-RPC and of MCP.
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeNoResource         = -32002 // up to lastHandshake; later versions do not allow it
	codeTooMany            = -32010 // of this server: a client exceeds its limits
	codeFull               = -32011 // of this server: a limit for all clients is reached, or the server ends
	codeHeaderMismatch     = -32020
	codeUnsupportedVersion = -32022
)

// A rpcError is an error as a client sees it.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

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

// errUninitialized answers a request of an older client before its handshake.
var errUninitialized = invalidRequest("send initialize first, or with each request the _meta of protocol version " + firstModern)

// errInitialized answers a second handshake.
var errInitialized = invalidRequest("initialize was already received")

// errCancelled answers a cancelled request on a transport that needs an answer.
var errCancelled = &rpcError{Code: codeInternal, Message: "the request was cancelled"}

// errEnding answers a request for which the server has no time left.
var errEnding = &rpcError{
	Code: codeFull, Message: "the server is shutting down; try again", RetryAfter: time.Second, Reason: "ending",
}

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

// badParams returns the error for invalid params of a method.
func badParams(r *request) *rpcError {
	return invalidParams("invalid params: they are not what %s takes", r.Method)
}

// unsupportedVersion returns the error for a version that is not served.
func unsupportedVersion(requested string) *rpcError {
	return &rpcError{Code: codeUnsupportedVersion, Message: "unsupported protocol version", Data: mustMarshal(struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{versions(), requested})}
}

// refused returns what a client is told of a [limits.Refusal]; nil if err is none.
func refused(err error) *rpcError {
	if errors.Is(err, limits.ErrEnding) {
		return errEnding
	}
	e, ok := errors.AsType[*limits.Refusal](err)
	if !ok {
		return nil
	}
	return &rpcError{
		Code: codeTooMany, Message: e.Error(), RetryAfter: e.RetryAfter, Reason: "too_many_requests",
		Data: mustMarshal(struct {
			Limit        string `json:"limit"`
			Held         int    `json:"held,omitempty"` // by this client
			RetryAfterMS int64  `json:"retryAfterMs"`
		}{e.Limit, e.Held, (e.RetryAfter + time.Millisecond - 1).Milliseconds()}),
	}
}

// guard calls f, a part of answering a request. It returns the error for the client if f
// fails or panics.
func (s *Server) guard(ctx context.Context, r *request, f func() error) (fault *rpcError) {
	defer func() {
		if p := recover(); p != nil {
			fault = s.internalError(ctx, r, "panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	if err := f(); err != nil {
		return s.fault(ctx, r, err)
	}
	return nil
}

// fault returns the error for a client.
func (s *Server) fault(ctx context.Context, r *request, err error) *rpcError {
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return &rpcError{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	if e, ok := errors.AsType[*rpcError](err); ok {
		return e
	}
	if e := refused(err); e != nil {
		return e
	}
	if ctx.Err() != nil {
		return errCancelled
	}
	// A tool words its refusals itself, so any other error is internal. Other parts of a
	// dialect can only return errors.
	if e, ok := errors.AsType[*sequent.Error](err); ok && r.Method != methodCall && e.Code != sequent.CodeInternal {
		shown := *e
		shown.Err = nil // for logs
		return &rpcError{Code: refusalCode(e.Code), Message: shown.Error()}
	}
	fault := s.internalError(ctx, r, "internal error", "error", err)
	if sequent.IsUncertain(err) {
		fault.Message += "; the call may or may not have recorded something"
	}
	return fault
}

// refusalCode returns the code for an error of the engine: what the client cannot mend is internal.
func refusalCode(code sequent.Code) int {
	switch code {
	case sequent.CodeConflict, sequent.CodeBusy, sequent.CodeUnavailable, sequent.CodeReadOnly,
		sequent.CodeFull, sequent.CodeCorrupt, sequent.CodeOtherFormat, sequent.CodeCanceled:
		return codeInternal
	}
	return codeInvalidParams
}

// internalError logs an internal failure, and returns the error for it, with the id that the log has.
func (s *Server) internalError(ctx context.Context, r *request, msg string, args ...any) *rpcError {
	id := strings.ToLower(rand.Text()[:8])
	subject, _ := subjectOf(&r.message)
	if r.Method == methodRead { // the rest of a URI can be a text of the client
		subject, _, _ = strings.Cut(subject, ":")
	}
	s.config.Logger.ErrorContext(ctx, msg, append([]any{"id", id, "method", r.Method, "subject", subject}, args...)...)
	return &rpcError{Code: codeInternal, Message: "internal error (id " + id + ")"}
}

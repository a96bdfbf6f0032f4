package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// fault returns the error for a client.
func (s *Server) fault(ctx context.Context, r *request, err error) *rpcError {
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return &rpcError{Code: e.Code, Message: e.Message, Data: oneLine(e.Data)}
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
	if e, ok := errors.AsType[*sequent.Error](err); ok && r.Method != methodCall {
		if code, show := refusal(e); show {
			return &rpcError{Code: code, Message: words(e)}
		}
	}
	id := faultID()
	s.logger.ErrorContext(ctx, "internal error", "id", id, "method", r.Method, "subject", subject(r), "error", err)
	fault := internalError(id)
	if sequent.IsUncertain(err) {
		fault.Message += "; the call may or may not have recorded something"
	}
	return fault
}

func (s *Server) panicked(ctx context.Context, r *request, p any) *rpcError {
	id := faultID()
	s.logger.ErrorContext(ctx, "panic", "id", id, "method", r.Method, "subject", subject(r),
		"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return internalError(id)
}

// internalError returns the error for an internal failure, with the id under which it is
// logged.
func internalError(id string) *rpcError {
	return &rpcError{Code: codeInternal, Message: "internal error (id " + id + ")"}
}

func faultID() string { return strings.ToLower(rand.Text()[:8]) }

// subject returns the part of the dialect that a request is about, for logs.
func subject(r *request) string {
	name, _ := subjectOf(&r.message)
	if r.Method == methodRead {
		// The rest of a URI can be a text of the client.
		scheme, _, _ := strings.Cut(name, ":")
		return scheme + ":"
	}
	return name
}

// refusal returns the code for an error of the engine, and whether a client may see its
func refusal(e *sequent.Error) (code int, show bool) {
	switch e.Code {
	case sequent.CodeInternal:
		return codeInternal, false
	case sequent.CodeConflict, sequent.CodeBusy, sequent.CodeUnavailable, sequent.CodeReadOnly,
		sequent.CodeFull, sequent.CodeCorrupt, sequent.CodeOtherFormat, sequent.CodeCanceled:
		return codeInternal, true
	default:
		return codeInvalidParams, true
	}
}

// words returns the parts of an error that a client may see.
func words(e *sequent.Error) string {
	msg := e.Msg
	if msg == "" {
		msg = string(e.Code)
	}
	if e.Fix != "" {
		msg += ": " + e.Fix
	}
	return msg
}

// oneLine returns JSON on one line; nil if it is not JSON.
func oneLine(data json.RawMessage) json.RawMessage {
	if data == nil {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return nil
	}
	return b.Bytes()
}

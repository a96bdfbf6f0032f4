package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// codeNoResource is what versions before 2026-07-28 answer for a missing
// document; later ones forbid it.
const codeNoResource = -32002

// errCancelled answers a cancelled request where the transport wants an answer.
var errCancelled = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request was cancelled"}

// clientError returns what a client is told of an error. It is never wrapped:
// the SDK gives a wrapped error the code 0.
func (s *Server) clientError(ctx context.Context, method string, req mcp.Request, err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return &jsonrpc.Error{Code: int64(e.Code), Message: e.Message, Data: validData(e.Data)}
	}
	if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok && noDocument(err) {
		return notFound(p.URI, modern(req))
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &jsonrpc.Error{Code: e.Code, Message: err.Error(), Data: validData(e.Data)}
	}
	if ctx.Err() != nil {
		return errCancelled
	}
	if method == methodInitialize {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: errInitialized.Message}
	}
	// A tool words its refusals itself, so that what is left is a fault. The
	// other parts of a dialect have no other way to refuse.
	if e, ok := errors.AsType[*sequent.Error](err); ok && method != methodCallTool {
		if code, show := refusal(e); show {
			return &jsonrpc.Error{Code: code, Message: words(e)}
		}
	}
	return s.internal(method, subject(req), err)
}

// noDocument reports whether reading a resource failed because there is nothing
// at its URI: in the SDK's words, which has this code for no other reason, or in
// the dialect's.
func noDocument(err error) bool {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e.Code == jsonrpc.CodeInvalidParams
	}
	return errors.Is(err, sequent.ErrNotFound)
}

// notFound says that there is nothing at a URI, in the words of the version.
// The SDK's own error holds the URI in Go's notation, which for some is not JSON.
func notFound(uri string, modern bool) *jsonrpc.Error {
	code := int64(codeNoResource)
	if modern {
		code = jsonrpc.CodeInvalidParams
	}
	data, _ := marshal(struct { // a string cannot fail
		URI string `json:"uri"`
	}{uri})
	return &jsonrpc.Error{Code: code, Message: "Resource not found", Data: data}
}

// refusal returns the code for an error of the engine, and whether its message
// may be shown.
func refusal(e *sequent.Error) (code int64, show bool) {
	switch e.Code {
	case sequent.CodeInternal:
		return jsonrpc.CodeInternalError, false
	case sequent.CodeConflict, sequent.CodeBusy, sequent.CodeUnavailable, sequent.CodeReadOnly,
		sequent.CodeFull, sequent.CodeCorrupt, sequent.CodeNewerSchema, sequent.CodeCanceled:
		return jsonrpc.CodeInternalError, true
	default:
		return jsonrpc.CodeInvalidParams, true
	}
}

// words returns the parts of an error that may be shown.
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

// internal logs a fault of ours and returns what a client is told of it: a word
// by which the log entry can be found.
func (s *Server) internal(method, subject string, err error) *jsonrpc.Error {
	id := faultID()
	s.logger.Error("internal error", "id", id, "method", method, "subject", subject, "error", err)
	return internalError(id)
}

func (s *Server) panicked(method, subject string, p any) *jsonrpc.Error {
	id := faultID()
	s.logger.Error("panic", "id", id, "method", method, "subject", subject,
		"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return internalError(id)
}

func internalError(id string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error (id " + id + ")"}
}

func faultID() string { return strings.ToLower(rand.Text()[:8]) }

func invalidParams(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// validData returns data on one line; nil if it is not JSON.
func validData(data json.RawMessage) json.RawMessage {
	if data == nil {
		return nil
	}
	out, err := marshal(data)
	if err != nil {
		return nil
	}
	return out
}

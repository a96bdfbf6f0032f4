package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// wireError returns what a client sees of an error in a reply. Those that are
// not plain come from the SDK's own checks; their texts quote the request and
// name types of Go.
func (s *Server) wireError(method string, err error) *jsonrpc.Error {
	if e, ok := err.(*jsonrpc.Error); ok {
		return &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: validData(e.Data)}
	}
	if errors.Is(err, context.Canceled) {
		return errCancelled
	}
	e, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ok:
	case method == methodInitialize: // the one whose params the SDK refuses without a code
		e = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams}
	default:
		return s.internal(method, "", err)
	}
	msg := e.Message
	switch e.Code {
	case jsonrpc.CodeMethodNotFound:
		msg = fmt.Sprintf("method not found: %q", method)
	case jsonrpc.CodeInvalidParams:
		msg = fmt.Sprintf("invalid params: they are not what %s takes", method)
	case jsonrpc.CodeInvalidRequest:
		if strings.HasPrefix(method, notePrefix) {
			msg = fmt.Sprintf("invalid request: %s is a notification and has no id", method)
			break
		}
		msg = fmt.Sprintf("invalid request: %s needs params", method)
	}
	return &jsonrpc.Error{Code: e.Code, Message: msg}
}

func resultLine(id, result json.RawMessage) []byte {
	line := make([]byte, 0, len(id)+len(result)+40)
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, id...)
	line = append(line, `,"result":`...)
	line = append(line, result...)
	return append(line, "}\n"...)
}

// errorLine returns an error reply. An id that is not known is null.
func errorLine(id json.RawMessage, e *jsonrpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	line = append(line, `,"error":`...)
	body, err := marshal(e)
	if err != nil { // its data was checked, its message can be anything
		body, _ = marshal(&jsonrpc.Error{Code: e.Code, Message: e.Message})
	}
	line = append(line, body...)
	return append(line, "}\n"...)
}

// messageLine returns what the server sends unasked: a notification, or a request
// of its own.
func messageLine(m *jsonrpc.Request) ([]byte, error) {
	line, err := marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      any             `json:"id,omitempty"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params,omitempty"`
	}{"2.0", m.ID.Raw(), m.Method, m.Params})
	if err != nil {
		return nil, err
	}
	return append(line, '\n'), nil
}

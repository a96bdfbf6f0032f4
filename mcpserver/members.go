package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// isBlank reports whether a line has nothing but white space.
func isBlank(line []byte) bool { return len(bytes.Trim(line, jsonscan.Space)) == 0 }

// isID reports whether raw can be the id of a request, or the token of its
// progress: a string or a number.
func isID(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return false
	}
	c := raw[0]
	return c == '"' || c == '-' || '0' <= c && c <= '9'
}

// idKey returns a key that is equal for all spellings of an id. Numbers are compared as
// they are written.
func idKey(id json.RawMessage) string {
	if s, ok := jsonscan.Text(id); ok {
		return "s" + string(s)
	}
	return "n" + string(id)
}

// Cancelled returns the id of the request that a notification cancels; nil if it has none.
func (m *message) Cancelled() json.RawMessage {
	var id json.RawMessage
	for name, value := range jsonscan.Members(m.Params) {
		if string(name) == "requestId" {
			id = nil
			if isID(value) {
				id = value
			}
		}
	}
	return id
}

func isNull(raw json.RawMessage) bool   { return string(raw) == "null" }
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

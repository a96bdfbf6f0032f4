package mcpserver

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A kind is what a line of input turned out to be.
type kind int

const (
	ignored      kind = iota // a notification that is none
	request                  // wants exactly one reply
	notification             // wants none
	refused                  // wants an error as its reply
	response                 // a reply to us
)

// An envelope is a JSON-RPC message with its parts as they came.
type envelope struct {
	kind   kind
	id     json.RawMessage // a string or a number; nil if there is none to reply with
	method string
	params json.RawMessage // nil if absent
	modern bool            // a request that says it is of 2026-07-28 or later
	says   string          // the version that its _meta names; empty if none
	fault  *jsonrpc.Error  // why it was refused
}

// The ways in which a message can fail to be a message.
var (
	errNotJSON    = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "parse error: the message is not JSON"}
	errNotUTF8    = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "parse error: the message is not valid UTF-8"}
	errBatch      = invalidRequest("batches are not supported; send one message at a time")
	errNotObject  = invalidRequest("a message is a JSON object")
	errVersion    = invalidRequest(`"jsonrpc" must be "2.0"`)
	errID         = invalidRequest("an id is a string or a number")
	errNoMethod   = invalidRequest("the method is missing")
	errMethodKind = invalidRequest("the method is not a string")
)

func invalidRequest(msg string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "invalid request: " + msg}
}

// parse reads a message. The envelope shares its memory.
func parse(line []byte) envelope {
	if !json.Valid(line) {
		return envelope{kind: refused, fault: errNotJSON}
	}
	switch first := bytes.TrimLeft(line, " \t\r\n")[0]; {
	case first == '[':
		return envelope{kind: refused, fault: errBatch}
	case first != '{':
		return envelope{kind: refused, fault: errNotObject}
	}

	var version, id, method, params []byte
	reply := false
	for name, value := range members(line) {
		switch name {
		case "jsonrpc":
			version = value
		case "id":
			id = value
		case "method":
			method = value
		case "params":
			params = value
		case "result", "error":
			reply = true
		}
	}

	e := envelope{params: params}
	named := false
	if e.method, named = text(method); method == nil && reply || named && id == nil {
		// What follows is wrong with some of these too, but nobody waits for an
		// answer, and to answer an error is how two programs talk for ever.
		v, _ := text(version)
		switch {
		case v != "2.0" || !utf8.Valid(line):
		case named:
			e.kind = notification
		case reply:
			e.kind = response
		}
		return e
	}
	if isID(id) && utf8.Valid(id) {
		e.id = id
	}
	e.kind = refused
	switch v, _ := text(version); {
	case !utf8.Valid(line):
		e.fault = errNotUTF8
	case id != nil && e.id == nil:
		e.fault = errID
	case v != "2.0":
		e.fault = errVersion
	case method == nil:
		e.fault = errNoMethod
	case !named:
		e.fault = errMethodKind
	default:
		e.kind = request
		e.says = saysVersion(params)
		e.modern = e.says >= firstModern
	}
	return e
}

// saysVersion returns the version of the protocol that params name.
func saysVersion(params json.RawMessage) string {
	for name, value := range members(params) {
		if name != "_meta" {
			continue
		}
		for name, value := range members(value) {
			if name == metaProtocol {
				v, _ := text(value)
				return v
			}
		}
	}
	return ""
}

// cancels returns the key of the request that a notification cancels.
func (e *envelope) cancels() string {
	for name, value := range members(e.params) {
		if name == "requestId" && isID(value) {
			return idKey(value)
		}
	}
	return ""
}

// idKey returns what two spellings of an id have in common. Numbers are compared
// as they were written: a client that writes 1 and then 1.0 is on its own.
func idKey(id json.RawMessage) string {
	if s, ok := text(id); ok {
		return "s" + s
	}
	return "n" + string(id)
}

// isID reports whether raw can be the id of a request.
func isID(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return false
	}
	c := raw[0]
	return c == '"' || c == '-' || '0' <= c && c <= '9'
}

// text returns the string that raw is, and whether it is one.
func text(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// members yields the names and raw values of an object, in order, duplicates
// included. It yields nothing for other values. The object must be valid JSON.
func members(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		i := skipSpace(object, 0)
		if i >= len(object) || object[i] != '{' {
			return
		}
		i = skipSpace(object, i+1)
		for object[i] != '}' {
			end := skipValue(object, i)
			name, _ := text(object[i:end])
			i = skipSpace(object, skipSpace(object, end)+1) // past the colon
			end = skipValue(object, i)
			if !yield(name, object[i:end:end]) {
				return
			}
			i = skipSpace(object, end)
			if object[i] == ',' {
				i = skipSpace(object, i+1)
			}
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipValue returns where the value that begins at i ends.
func skipValue(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // the end of what the value is in
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

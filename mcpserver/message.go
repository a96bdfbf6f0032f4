package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/internal/limits"
)

// firstModern is the first version of the protocol without a handshake: the _meta of each
// request has everything that a server needs. lastHandshake is the newest one with a handshake.
const (
	firstModern   = "2026-07-28"
	lastHandshake = "2025-11-25"
)

// versions returns the versions of the protocol that are served, newest first. 2025-03-26 is not
// one of them: it demands batches, which no other version has.
func versions() []string { return []string{firstModern, lastHandshake, "2025-06-18", "2024-11-05"} }

// A kind is the kind of a message.
type kind int

// The kinds of messages.
const (
	kindIgnored      kind = iota // malformed, and no reply is expected
	kindRequest                  // expects exactly one reply
	kindNotification             // expects none
	kindRefused                  // message.Fault is its reply
	kindResponse                 // of the client to a request of the server
)

// A message is a message with its raw parts, which share the memory of the line.
type message struct {
	Kind   kind
	ID     json.RawMessage // a string or a number; nil if there is no valid one
	Method string
	Params json.RawMessage // nil if absent
	Meta   meta            // of a request
	Result json.RawMessage // of a response; nil for an error
	Fault  *rpcError       // why the message was refused
	Lone   bool            // a string has an escape of half a surrogate pair
}

// A meta has the members of _meta in a request's params.
type meta struct {
	Malformed     bool            // _meta is neither an object nor null
	Version       string          // protocol version; empty if it is not a string
	Capabilities  json.RawMessage // of the client; nil if absent
	Client        json.RawMessage // description of the client; nil if absent
	ProgressToken json.RawMessage // nil if absent
	Codex         json.RawMessage // what the client Codex says of a call; nil if absent
	Trace         TraceContext
}

// The members of _meta that the protocol defines.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	// metaText marks a notification of progress whose message is a piece of a text.
	metaText     = "dev.sequent/text"
	metaProgress = "progressToken"
	metaCodex    = "x-codex-turn-metadata"
)

// longMessage is the length in bytes from which on a message takes long to read.
const longMessage = 16 << 10

// Modern reports whether the message is a request whose _meta names [firstModern] or a
// later version.
func (m *message) Modern() bool { return m.Meta.Version >= firstModern }

// parts are the raw members of a message.
type parts struct {
	version, id, method, params json.RawMessage
	result                      json.RawMessage
	reply                       bool // there is a result or an error
}

// parseIn is [parseMessage] for a client with limits: a long message takes the turn before it is read.
// If it gets none, it is refused.
func parseIn(ctx context.Context, line []byte, turn *limits.Turn) message {
	if len(line) < longMessage {
		return parseMessage(line)
	}
	err := turn.Take(ctx)
	if err == nil {
		return parseMessage(line)
	}
	p := partsOf(bytes.Trim(line, jsonscan.Space)) // as far as it can be told without reading all of it
	if p.method == nil || !isID(p.id) || !utf8.Valid(p.id) {
		return message{} // no reply is expected
	}
	return message{Kind: kindRefused, ID: p.id, Fault: cmp.Or(refused(err), errCancelled)}
}

// parseMessage reads a message.
func parseMessage(line []byte) message {
	line = bytes.Trim(line, jsonscan.Space)
	switch {
	case !json.Valid(line):
		return message{Kind: kindRefused, Fault: errNotJSON}
	case line[0] == '[':
		return message{Kind: kindRefused, Fault: errBatch}
	case line[0] != '{':
		return message{Kind: kindRefused, Fault: errNotObject}
	}
	p, valid := partsOf(line), utf8.Valid(line)
	method, named := jsonscan.Text(p.method)
	version, _ := jsonscan.Text(p.version)
	name := methodCall // of nearly all messages, without an allocation
	if string(method) != name {
		name = string(method)
	}
	m := message{Method: name, Params: p.params, Lone: jsonscan.LoneSurrogate(line)}
	if p.method == nil && p.reply || named && p.id == nil {
		// Never reply to an invalid notification or response: two peers could loop.
		switch {
		case string(version) != "2.0" || !valid:
		case named:
			m.Kind = kindNotification
		case p.reply:
			m.Kind, m.ID, m.Result = kindResponse, p.id, p.result
		}
		return m
	}
	if isID(p.id) && utf8.Valid(p.id) {
		m.ID = p.id
	}
	m.Kind = kindRefused
	switch {
	case !valid:
		m.Fault = errNotUTF8
	case p.id != nil && m.ID == nil:
		m.Fault = errID
	case string(version) != "2.0":
		m.Fault = errVersion
	case p.method == nil:
		m.Fault = errNoMethod
	case !named:
		m.Fault = errMethodKind
	default:
		m.Kind, m.Meta = kindRequest, metaOf(p.params)
	}
	return m
}

// partsOf reads the members of a message. Of two with the same name the last counts.
func partsOf(line []byte) (p parts) {
	for name, value := range jsonscan.Members(line) {
		switch string(name) {
		case "jsonrpc":
			p.version = value
		case "id":
			p.id = value
		case "method":
			p.method = value
		case "params":
			p.params = value
		case "result":
			p.reply, p.result = true, value
		case "error":
			p.reply = true
		}
	}
	return p
}

// metaOf returns the _meta of params.
func metaOf(params json.RawMessage) (m meta) {
	raw := member(params, "_meta")
	m.Malformed = raw != nil && !isObject(raw) && !isNull(raw)
	for member, value := range jsonscan.Members(raw) {
		switch string(member) {
		case metaVersion:
			m.Version = text(value)
		case metaCapabilities:
			m.Capabilities = value
		case metaClient:
			m.Client = value
		case metaProgress:
			m.ProgressToken = value
		case metaCodex:
			m.Codex = value
		case "traceparent":
			m.Trace.Parent = text(value)
		case "tracestate":
			m.Trace.State = text(value)
		}
	}
	return m
}

// subjectOf returns the name of the subject of a request, which the header Mcp-Name
// repeats, and whether requests with that method have one.
func subjectOf(m *message) (name string, ok bool) {
	switch m.Method {
	case methodCall, methodPrompt:
		return text(member(m.Params, "name")), true
	case methodRead:
		return text(member(m.Params, "uri")), true
	}
	return "", false
}

// cancelled returns the id of the request that a notification cancels; nil if it has none.
func (m *message) cancelled() json.RawMessage {
	if id := member(m.Params, "requestId"); isID(id) {
		return id
	}
	return nil
}

// decode decodes the params of a request. Members of the wrong type are invalid params.
func decode[P any](r *request) (p P, err error) {
	if r.Params != nil && json.Unmarshal(r.Params, &p) != nil {
		return p, badParams(r)
	}
	return p, nil
}

// member returns the value of a member of an object, the last of that name; nil if there is none.
func member(object json.RawMessage, name string) (found json.RawMessage) {
	for member, value := range jsonscan.Members(object) {
		if string(member) == name {
			found = value
		}
	}
	return found
}

// text returns a JSON string, or "".
func text(raw json.RawMessage) string {
	s, _ := jsonscan.Text(raw)
	return string(s)
}

// isBlank reports whether a line has nothing but white space.
func isBlank(line []byte) bool { return len(bytes.Trim(line, jsonscan.Space)) == 0 }

func isNull(raw json.RawMessage) bool   { return string(raw) == "null" }
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// isID reports whether raw can be the id of a request, or the token of its
// progress: a string or a number.
func isID(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '"' || raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9')
}

// idKey returns a key that is equal for all spellings of an id. Numbers are compared as
// they are written.
func idKey(id json.RawMessage) string {
	if s, ok := jsonscan.Text(id); ok {
		return "s" + string(s)
	}
	return "n" + string(id)
}

// Package protocol reads messages of JSON-RPC 2.0 as MCP uses them, and answers requests for a
// dialect. A [Server] knows nothing of connections: who calls, what that client may use, and
// whether the method is allowed now is known by the one that asks it.
package protocol

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// A Kind is the kind of a message.
type Kind int

// The kinds of messages.
const (
	KindIgnored      Kind = iota // malformed, and no reply is expected
	KindRequest                  // expects exactly one reply
	KindNotification             // expects none
	KindRefused                  // Message.Fault is its reply
	KindResponse                 // of the client to a request of the server
)

// A Message is a message with its raw parts, which share the memory of the line.
type Message struct {
	Kind   Kind
	ID     json.RawMessage // a string or a number; nil if there is no valid one
	Method string
	Params json.RawMessage // nil if absent
	Meta   Meta            // of a request
	Result json.RawMessage // of a response; nil for an error
	Fault  *Error          // why the message was refused
	Lone   bool            // a string has an escape of half a surrogate pair
}

// Meta has the members of _meta in a request's params.
type Meta struct {
	Malformed     bool            // _meta is neither an object nor null
	Version       string          // protocol version; empty if it is not a string
	Capabilities  json.RawMessage // of the client; nil if absent
	Client        json.RawMessage // description of the client; nil if absent
	ProgressToken json.RawMessage // nil if absent
	Codex         json.RawMessage // what the client Codex says of a call; nil if absent
	TraceParent   json.RawMessage // of W3C Trace Context; nil if absent
	TraceState    json.RawMessage // of W3C Trace Context; nil if absent
}

// The members of _meta that the protocol defines.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaClient       = "io.modelcontextprotocol/clientInfo"
	MetaServer       = "io.modelcontextprotocol/serverInfo"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	// MetaText marks a notification of progress whose message is a piece of a text.
	MetaText     = "dev.sequent/text"
	metaProgress = "progressToken"
	metaCodex    = "x-codex-turn-metadata"

	metaTraceParent = "traceparent"
	metaTraceState  = "tracestate"
)

// Modern reports whether the message is a request whose _meta names [FirstModern] or a
// later version.
func (m *Message) Modern() bool { return m.Meta.Version >= FirstModern }

// parts are the raw members of a message.
type parts struct {
	version, id, method, params json.RawMessage
	result                      json.RawMessage
	reply                       bool // there is a result or an error
}

// Parse reads a message.
func Parse(line []byte) Message {
	line = bytes.Trim(line, jsonscan.Space)
	switch {
	case !json.Valid(line):
		return Message{Kind: KindRefused, Fault: errNotJSON}
	case line[0] == '[':
		return Message{Kind: KindRefused, Fault: errBatch}
	case line[0] != '{':
		return Message{Kind: KindRefused, Fault: errNotObject}
	}
	p, valid := partsOf(line), utf8.Valid(line)
	method, named := methodIn(p.method)
	m := Message{Method: method, Params: p.params, Lone: jsonscan.LoneSurrogate(line)}
	if p.method == nil && p.reply || named && p.id == nil {
		// Never reply to an invalid notification or response: two peers could loop.
		switch {
		case !isVersion2(p.version) || !valid:
		case named:
			m.Kind = KindNotification
		case p.reply:
			m.Kind, m.ID, m.Result = KindResponse, p.id, p.result
		}
		return m
	}
	if IsID(p.id) && utf8.Valid(p.id) {
		m.ID = p.id
	}
	m.Kind = KindRefused
	switch {
	case !valid:
		m.Fault = errNotUTF8
	case p.id != nil && m.ID == nil:
		m.Fault = errID
	case !isVersion2(p.version):
		m.Fault = errVersion
	case p.method == nil:
		m.Fault = errNoMethod
	case !named:
		m.Fault = errMethodKind
	default:
		m.Kind, m.Meta = KindRequest, metaOf(p.params)
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
func metaOf(params json.RawMessage) (m Meta) {
	for member, value := range jsonscan.Members(params) {
		if string(member) != "_meta" {
			continue
		}
		m = Meta{Malformed: value[0] != '{' && value[0] != 'n'}
		for member, value := range jsonscan.Members(value) {
			switch string(member) {
			case MetaVersion:
				m.Version = version(value)
			case MetaCapabilities:
				m.Capabilities = value
			case MetaClient:
				m.Client = value
			case metaProgress:
				m.ProgressToken = value
			case metaCodex:
				m.Codex = value
			case metaTraceParent:
				m.TraceParent = value
			case metaTraceState:
				m.TraceState = value
			}
		}
	}
	return m
}

// version returns the version in raw. It does not allocate for the version of nearly all
// requests.
func version(raw json.RawMessage) string {
	if string(raw) == `"`+FirstModern+`"` {
		return FirstModern
	}
	return text(raw)
}

// methodIn returns the method in raw, and false if raw is not a string.
func methodIn(raw json.RawMessage) (string, bool) {
	if string(raw) == `"`+callTool+`"` {
		return callTool, true
	}
	text, ok := jsonscan.Text(raw)
	return string(text), ok
}

func isVersion2(raw json.RawMessage) bool {
	if string(raw) == `"2.0"` {
		return true
	}
	return text(raw) == "2.0"
}

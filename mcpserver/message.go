package mcpserver

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// A kind is the kind of a message.
type kind int

// The kinds of messages.
const (
	kindIgnored      kind = iota // malformed, and no reply is expected
	kindRequest                  // expects exactly one reply
	kindNotification             // expects none
	kindRefused                  // Message.Fault is its reply
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
	TraceParent   json.RawMessage // of W3C Trace Context; nil if absent
	TraceState    json.RawMessage // of W3C Trace Context; nil if absent
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

	metaTraceParent = "traceparent"
	metaTraceState  = "tracestate"
)

// Modern reports whether the message is a request whose _meta names [firstModern] or a
// later version.
func (m *message) Modern() bool { return m.Meta.Version >= firstModern }

// parts are the raw members of a message.
type parts struct {
	version, id, method, params json.RawMessage
	result                      json.RawMessage
	reply                       bool // there is a result or an error
}

// Parse reads a message.
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
	method, named := methodIn(p.method)
	m := message{Method: method, Params: p.params, Lone: jsonscan.LoneSurrogate(line)}
	if p.method == nil && p.reply || named && p.id == nil {
		// Never reply to an invalid notification or response: two peers could loop.
		switch {
		case !isVersion2(p.version) || !valid:
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
	case !isVersion2(p.version):
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
	for member, value := range jsonscan.Members(params) {
		if string(member) != "_meta" {
			continue
		}
		m = meta{Malformed: value[0] != '{' && value[0] != 'n'}
		for member, value := range jsonscan.Members(value) {
			switch string(member) {
			case metaVersion:
				m.Version = version(value)
			case metaCapabilities:
				m.Capabilities = value
			case metaClient:
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
	if string(raw) == `"`+firstModern+`"` {
		return firstModern
	}
	return text(raw)
}

// methodIn returns the method in raw, and false if raw is not a string.
func methodIn(raw json.RawMessage) (string, bool) {
	if string(raw) == `"`+methodCall+`"` {
		return methodCall, true
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

package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/tool"
)

// A request is a request with the data of its connection.
type request struct {
	message
	Modern bool // it is of 2026-07-28 or later
	Caller tool.Caller
	Via    Via
	conn   *connection // nil for a stateless request
	// Turn is what a heavy call takes. The caller gives it back when the reply was sent, which can be
	// large and is in memory until then. Nil means no limits.
	Turn *limits.Turn
	// Seen is what an observer is told; nil without one.
	Seen *Exchange
	// MaxReply limits the reply, in bytes. A longer one is replaced by an error; 0 or less
	// means no limit.
	MaxReply int
	// Notify sends a notification of the call's progress, a line; nil if the client cannot
	// be told.
	Notify func(line []byte)

	client       clientInfo // of a request of the modern era, as are the capabilities
	capabilities capabilities
}

// Methods that are named elsewhere, and notifications.
const (
	methodInitialize = "initialize"
	methodPing       = "ping"
	methodListen     = "subscriptions/listen"
	methodDiscover   = "server/discover"
	methodCall       = "tools/call"
	methodRead       = "resources/read"
	methodPrompt     = "prompts/get"

	methodCancelled    = "notifications/cancelled"
	methodInitialized  = "notifications/initialized"
	methodRootsChanged = "notifications/roots/list_changed"
)

// A method answers requests in one or both eras.
type method struct {
	// answer returns the result, a JSON object without the members that each result of the
	// era has.
	answer      func(s *Server, ctx context.Context, r *request) (any, error)
	offer       string // what the dialect must have, by its name in Server.offers
	eras        eras
	needsParams bool
	traced      bool // it depends on where the request comes from
}

// eras say in which versions a method is served.
type eras int

const (
	bothEras     eras = iota
	handshakeEra      // only with a handshake
	modernEra         // only since 2026-07-28
)

// methods has the methods of the protocol. methodListen is answered by listen,
// because its reply ends with the subscription.
var methods = map[string]method{
	methodCall:                 {answer: (*Server).callTool, offer: "tools", needsParams: true, traced: true},
	"tools/list":               {answer: (*Server).list, offer: "tools"},
	methodRead:                 {answer: (*Server).readResource, offer: "resources", needsParams: true, traced: true},
	"resources/list":           {answer: (*Server).list, offer: "resources"},
	"resources/templates/list": {answer: (*Server).list, offer: "resources"},
	"resources/subscribe":      {answer: (*Server).subscribe, offer: "subscribe", eras: handshakeEra, needsParams: true},
	"resources/unsubscribe":    {answer: (*Server).unsubscribe, offer: "subscribe", eras: handshakeEra, needsParams: true},
	methodPrompt:               {answer: (*Server).getPrompt, offer: "prompts", needsParams: true, traced: true},
	"prompts/list":             {answer: (*Server).list, offer: "prompts"},
	"skills/list":              {answer: (*Server).list, offer: "skills"},
	"skills/get":               {answer: (*Server).getSkill, offer: "skills", needsParams: true},
	"completion/complete":      {answer: (*Server).complete, offer: "completions", needsParams: true, traced: true},
	methodListen:               {eras: modernEra, needsParams: true},
	methodDiscover:             {answer: (*Server).discover, eras: modernEra},
	methodInitialize:           {answer: (*Server).initialize, eras: handshakeEra, needsParams: true},
	methodPing:                 {answer: (*Server).ping, eras: handshakeEra},
}

// answer appends the reply to a request, which is a whole line. The fault is the error in
// it, nil for a result. A panic of the dialect is a fault.
func (s *Server) answer(ctx context.Context, line []byte, r *request) (reply []byte, fault *rpcError) {
	m, fault := s.find(r)
	if fault == nil {
		s := s.of(r)
		fault = s.guard(ctx, r, func() error {
			if m.traced {
				ctx = s.trace(ctx, r)
			}
			result, err := m.answer(s, ctx, r)
			if err == nil {
				reply, err = s.appendResult(line, r, nil, result)
			}
			if n := len(reply) - len(line); err == nil && r.MaxReply > 0 && n > r.MaxReply {
				err = &rpcError{Code: codeInternal, Message: fmt.Sprintf(
					"the request was carried out, but its reply has %d bytes, of at most %d, and cannot be sent: ask for less",
					n, r.MaxReply)}
			}
			return err
		})
	}
	if fault != nil {
		reply = appendError(line, r.ID, fault)
	}
	return reply, fault
}

// of returns the server that answers a request: clients that show pages are offered more.
func (s *Server) of(r *request) *Server {
	if s.apps == nil || !r.showsApps() {
		return s
	}
	return s.apps
}

// find returns the method of a request, or the error if it is not served.
func (s *Server) find(r *request) (method, *rpcError) {
	if r.Modern {
		if fault := r.describe(); fault != nil {
			return method{}, fault
		}
		if r.Meta.Version != firstModern {
			return method{}, unsupportedVersion(r.Meta.Version)
		}
	}
	m, ok := methods[r.Method]
	switch {
	case !ok && r.isNotification():
		return m, invalidRequest(r.Method + " is a notification and has no id")
	case !ok, r.Modern && m.eras == handshakeEra, !r.Modern && m.eras == modernEra, !s.of(r).offers[m.offer]:
		return m, &rpcError{Code: codeMethodNotFound, Message: fmt.Sprintf("method not found: %q", r.Method)}
	case m.needsParams && (r.Params == nil || isNull(r.Params)):
		return m, invalidRequest(r.Method + " needs params")
	case r.Params != nil && !isNull(r.Params) && !isObject(r.Params), r.Meta.Malformed:
		return m, badParams(r)
	}
	return m, nil
}

// isNotification reports whether a request has the method of a notification.
func (r *request) isNotification() bool {
	switch r.Method {
	case methodCancelled, "notifications/progress":
		return true
	case methodInitialized, methodRootsChanged:
		return !r.Modern
	}
	return false
}

// discover answers server/discover.
func (s *Server) discover(context.Context, *request) (any, error) {
	return struct {
		cacheable
		Versions     []string        `json:"supportedVersions"`
		Capabilities json.RawMessage `json:"capabilities"`
		Instructions string          `json:"instructions,omitempty"`
	}{cached, versions(), s.capabilities, s.config.Dialect.Instructions}, nil
}

func (s *Server) ping(context.Context, *request) (any, error) { return struct{}{}, nil }

package method

import (
	"context"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/tool"
)

// A Request is a request with what its connection knows of it.
type Request struct {
	*message.Message
	Modern bool // it is of 2026-07-28 or later
	Caller tool.Caller
	// Progress reports on the call; nil if the client has not asked.
	Progress func(message string, done, total float64)
	// Subscriptions are those of a connection of the handshake era; nil where
	// there is none.
	Subscriptions Subscriber
}

// A Subscriber has the documents of whose changes a connection is told.
type Subscriber interface {
	Subscribe(ctx context.Context, c tool.Caller, uri string) error
	Unsubscribe(uri string)
}

// The methods that transports and connections treat in a way of their own.
const (
	Initialize = "initialize"
	Ping       = "ping"
	Listen     = "subscriptions/listen"
	Discover   = "server/discover"
	Cancelled  = "notifications/cancelled"

	callTool  = "tools/call"
	read      = "resources/read"
	getPrompt = "prompts/get"
)

// A method answers requests in one or both eras.
type method struct {
	// answer appends the members of the result to those that each result of the
	// era has.
	answer func(s *Server, ctx context.Context, r *Request, result []byte) ([]byte, error)
	// offered reports whether the server declares what the method belongs to; nil
	// means always.
	offered     func(s *Server) bool
	handshake   bool // served in the versions with a handshake
	modern      bool // served since 2026-07-28
	needsParams bool
}

// methodNamed returns a method of the protocol, and whether it is one.
func methodNamed(name string) (m method, ok bool) {
	switch name {
	case callTool:
		m = method{answer: (*Server).callTool, offered: (*Server).hasTools, handshake: true, modern: true, needsParams: true}
	case "tools/list":
		m = method{answer: (*Server).listTools, offered: (*Server).hasTools, handshake: true, modern: true}
	case read:
		m = method{answer: (*Server).readResource, offered: (*Server).hasResources, handshake: true, modern: true, needsParams: true}
	case "resources/list":
		m = method{answer: (*Server).listResources, offered: (*Server).hasResources, handshake: true, modern: true}
	case "resources/templates/list":
		m = method{answer: (*Server).listTemplates, offered: (*Server).hasResources, handshake: true, modern: true}
	case "resources/subscribe":
		m = method{answer: (*Server).subscribe, offered: (*Server).watches, handshake: true, needsParams: true}
	case "resources/unsubscribe":
		m = method{answer: (*Server).unsubscribe, offered: (*Server).watches, handshake: true, needsParams: true}
	case getPrompt:
		m = method{answer: (*Server).getPrompt, offered: (*Server).hasPrompts, handshake: true, modern: true, needsParams: true}
	case "prompts/list":
		m = method{answer: (*Server).listPrompts, offered: (*Server).hasPrompts, handshake: true, modern: true}
	case "completion/complete":
		m = method{answer: (*Server).complete, offered: (*Server).completes, handshake: true, modern: true, needsParams: true}
	case Listen: // answered by package session, after CheckListen
		m = method{modern: true, needsParams: true}
	case Discover:
		m = method{answer: (*Server).discover, modern: true}
	case Initialize:
		m = method{answer: (*Server).initialize, handshake: true, needsParams: true}
	case Ping:
		m = method{answer: (*Server).ping, handshake: true}
	default:
		return method{}, false
	}
	return m, true
}

// Answer appends the reply to a request, a whole line. The fault is the error in
// it, nil for a result. A panic of the dialect is a fault.
func (s *Server) Answer(ctx context.Context, line []byte, r *Request) (reply []byte, fault *message.Error) {
	start := len(line)
	m, fault := s.find(r)
	if fault == nil {
		line = message.OpenResult(line, r.ID)
		if r.Modern {
			line = append(line, s.modernMembers...)
		}
		var result []byte
		if result, fault = s.run(ctx, m, r, line); fault == nil {
			return message.CloseResult(result), nil
		}
	}
	return message.AppendError(line[:start], r.ID, fault), fault
}

// run calls a method.
func (s *Server) run(ctx context.Context, m method, r *Request, line []byte) (result []byte, fault *message.Error) {
	fault = s.Guard(ctx, r, func() (err error) {
		result, err = m.answer(s, ctx, r, line)
		return err
	})
	return result, fault
}

// Guard does a part of answering a request. It returns what a client is told of
// the error of f, or of its panic.
func (s *Server) Guard(ctx context.Context, r *Request, f func() error) (fault *message.Error) {
	defer func() {
		if p := recover(); p != nil {
			fault = s.panicked(r, p)
		}
	}()
	if err := f(); err != nil {
		return s.fault(ctx, r, err)
	}
	return nil
}

// find returns the method of a request, or why it is not answered.
func (s *Server) find(r *Request) (method, *message.Error) {
	if r.Modern {
		if fault := checkMeta(&r.Meta); fault != nil {
			return method{}, fault
		}
		if r.Meta.Version != message.FirstModern {
			return method{}, message.UnsupportedVersion(r.Meta.Version)
		}
	}
	m, ok := methodNamed(r.Method)
	switch {
	case !ok && isNotification(r):
		return m, message.InvalidRequest(r.Method + " is a notification and has no id")
	case !ok, r.Modern && !m.modern, !r.Modern && !m.handshake, m.offered != nil && !m.offered(s):
		return m, message.MethodNotFound(r.Method)
	case m.needsParams && (r.Params == nil || isNull(r.Params)):
		return m, message.InvalidRequest(r.Method + " needs params")
	case r.Params != nil && !isNull(r.Params) && !isObject(r.Params), r.Meta.Malformed:
		return m, badParams(r)
	}
	return m, nil
}

// isNotification reports whether a request has the method of a notification.
func isNotification(r *Request) bool {
	switch r.Method {
	case Cancelled, "notifications/progress":
		return true
	case "notifications/initialized", "notifications/roots/list_changed":
		return !r.Modern
	}
	return false
}

// CheckListen reads the params of subscriptions/listen: the URIs of the documents
// of whose changes the client wants to be told. Package session answers it, since
// the reply lasts.
func (s *Server) CheckListen(r *Request) (uris []string, fault *message.Error) {
	if _, fault := s.find(r); fault != nil {
		return nil, fault
	}
	p := params{raw: r.Params}
	filter := params{raw: p.object("notifications")}
	switch {
	case p.bad:
		return nil, badParams(r)
	case filter.raw == nil:
		return nil, missingParam("notifications")
	}
	uris = filter.texts("resourceSubscriptions")
	for _, name := range []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"} {
		filter.boolean(name)
	}
	if filter.bad {
		return nil, badParams(r)
	}
	return uris, nil
}

// Subject returns the name of what a request is about, as it is mirrored in the
// header Mcp-Name, and whether requests with that method have one.
func Subject(m *message.Message) (name string, ok bool) {
	p := params{raw: m.Params}
	switch m.Method {
	case callTool, getPrompt:
		return p.text("name"), true
	case read:
		return p.text("uri"), true
	}
	return "", false
}

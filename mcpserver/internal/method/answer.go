package method

import (
	"context"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/tool"
)

// A Request is a request with the data of its connection.
type Request struct {
	*message.Message
	Modern bool // it is of 2026-07-28 or later
	Caller tool.Caller
	Origin Origin
	Peer   *Peer  // of a connection of the handshake era
	Client Client // nil for no limits
	// Seen is what an observer is told; nil without one.
	Seen *Exchange
	// Room is told that the reply has some bytes or more, before they are encoded. Its
	// error, if any, is the reply. Nil for no limits.
	Room func(bytes int) *message.Error
	// Progress reports on the call; nil if the client has not asked for it.
	Progress func(message string, done, total float64)
	// Text reports pieces of a text that the call produces; nil with Progress.
	Text func(piece string)
	// Subscriptions are those of a connection of the handshake era; otherwise nil.
	Subscriptions Subscriber
}

// A Subscriber has the documents whose changes are reported to a connection.
type Subscriber interface {
	Subscribe(ctx context.Context, c tool.Caller, uri string) error
	Unsubscribe(uri string)
}

// Methods that transports and connections handle themselves.
const (
	Initialize = "initialize"
	Ping       = "ping"
	Listen     = "subscriptions/listen"
	Discover   = "server/discover"
	Cancelled  = "notifications/cancelled"

	Initialized  = "notifications/initialized"
	RootsChanged = "notifications/roots/list_changed"

	callTool  = "tools/call"
	read      = "resources/read"
	getPrompt = "prompts/get"
)

// A method answers requests in one or both eras.
type method struct {
	// answer appends the members of the result, after those that each result of the era
	// has.
	answer func(s *Server, ctx context.Context, r *Request, result []byte) ([]byte, error)
	// offered reports whether the server declares the feature of the method; nil means
	// always.
	offered     func(s *Server) bool
	handshake   bool // served in the versions with a handshake
	modern      bool // served since 2026-07-28
	needsParams bool
	traced      bool // it depends on where the request comes from
}

// methodNamed returns a method of the protocol, and false if there is none.
func methodNamed(name string) (m method, ok bool) {
	switch name {
	case callTool:
		m = method{answer: (*Server).callTool, offered: (*Server).hasTools, handshake: true, modern: true, needsParams: true, traced: true}
	case "tools/list":
		m = method{answer: (*Server).listTools, offered: (*Server).hasTools, handshake: true, modern: true}
	case read:
		m = method{answer: (*Server).readResource, offered: (*Server).hasResources, handshake: true, modern: true, needsParams: true, traced: true}
	case "resources/list":
		m = method{answer: (*Server).listResources, offered: (*Server).hasResources, handshake: true, modern: true}
	case "resources/templates/list":
		m = method{answer: (*Server).listTemplates, offered: (*Server).hasResources, handshake: true, modern: true}
	case "resources/subscribe":
		m = method{answer: (*Server).subscribe, offered: (*Server).watches, handshake: true, needsParams: true}
	case "resources/unsubscribe":
		m = method{answer: (*Server).unsubscribe, offered: (*Server).watches, handshake: true, needsParams: true}
	case getPrompt:
		m = method{answer: (*Server).getPrompt, offered: (*Server).hasPrompts, handshake: true, modern: true, needsParams: true, traced: true}
	case "prompts/list":
		m = method{answer: (*Server).listPrompts, offered: (*Server).hasPrompts, handshake: true, modern: true}
	case "skills/list":
		m = method{answer: (*Server).listSkills, offered: (*Server).hasSkills, handshake: true, modern: true}
	case "skills/get":
		m = method{answer: (*Server).getSkill, offered: (*Server).hasSkills, handshake: true, modern: true, needsParams: true}
	case "completion/complete":
		m = method{answer: (*Server).complete, offered: (*Server).completes, handshake: true, modern: true, needsParams: true, traced: true}
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

// Answer appends the reply to a request, which is a whole line. The fault is the error in
// it, nil for a result. A panic of the dialect is a fault.
func (s *Server) Answer(ctx context.Context, line []byte, r *Request) (reply []byte, fault *message.Error) {
	start := len(line)
	s = s.of(r)
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
		if m.traced {
			ctx = s.trace(ctx, r)
		}
		result, err = m.answer(s, ctx, r, line)
		return err
	})
	return result, fault
}

// Guard calls f, a part of answering a request. It returns the error for the client if f
// fails or panics.
func (s *Server) Guard(ctx context.Context, r *Request, f func() error) (fault *message.Error) {
	defer func() {
		if p := recover(); p != nil {
			fault = s.panicked(ctx, r, p)
		}
	}()
	if err := f(); err != nil {
		return s.fault(ctx, r, err)
	}
	return nil
}

// find returns the method of a request, or the error if it is not served.
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
	case Initialized, RootsChanged:
		return !r.Modern
	}
	return false
}

// CheckListen reads the params of subscriptions/listen: the URIs of the documents whose
// changes are reported. Package session answers the request, because its reply ends with
// the subscription.
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

// Subject returns the name of the subject of a request, which the header Mcp-Name
// repeats, and whether requests with that method have one.
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

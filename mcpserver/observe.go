package mcpserver

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"github.com/sequent-dev/sequent/tool"
)

// An Observer is told of a request before it is answered, for traces, metrics and logs. The request is
// answered with the returned context, and end is called when it is answered or refused. An Observer is safe
// for concurrent use, and waits for nothing that can take long.
type Observer func(ctx context.Context, x *Exchange) (_ context.Context, end func())

// An Exchange is a request and, at its end, the outcome. Names that the server does not
// know are left out: they can be any text of the client.
type Exchange struct {
	Dialect  string          // name of the dialect
	Method   string          // of the protocol; empty for one that is not
	Tool     string          // that is called; empty for none of the dialect
	Prompt   string          // that is asked for; known at the end; empty for none of the dialect
	ID       json.RawMessage // until the end
	Protocol string          // version of the protocol; known at the end
	Client   string          // name of the program, as it says itself; known at the end
	Caller   tool.Caller
	Via      Via
	Received time.Time
	// Parent is the trace context in the _meta of the request.
	Parent TraceContext

	// Bare is set for what is no request of the protocol: an HTTP request or a line that was refused
	// before its message was read, and the beginning of a WebSocket or of a stream of events, and the end
	// of an MCP session over HTTP.
	Bare bool

	Code   int    // of the error in the reply; 0 for a result
	Failed bool   // the result of the tool is an error (isError)
	Reason string // stable code of a refusal, such as SESSION_NOT_FOUND or insufficient_scope; empty for none
	Status int    // of HTTP; 0 for a line or a frame

	end func()
}

// Pipe is the transport of a client that has started the server, most likely in the directory of
// its project.
const overPipe = "pipe"

// A Via is how requests reach the server.
type Via struct {
	Transport string     // Pipe or "tcp"
	Protocol  string     // "http" or "websocket"; empty on a pipe
	Version   string     // of HTTP, such as "1.1"; empty on a pipe
	Client    netip.Addr // not valid on a pipe
	Session   string     // id of the MCP session of an older client over HTTP; empty for none
	Verb      string     // method of HTTP; empty on a pipe
	Token     string     // names the token (see auth.Identity); empty for none
	Agent     string     // label of the agent; empty means the name of the client
	Project   string     // of the agent; empty means that of the client's roots
	// Link is the trace context of the HTTP request.
	Link TraceContext
}

// A TraceContext has the headers of W3C Trace Context, as the client sent them.
type TraceContext struct{ Parent, State string }

// observe tells the observer, if there is one, of a request that was received at some time.
// The request is answered with the returned context. The caller passes the exchange on in
// request.Seen and calls its finish.
func (s *Server) observe(
	ctx context.Context, m *message, c tool.Caller, via Via, received time.Time,
) (context.Context, *Exchange) {
	if s.config.Observer == nil {
		return ctx, nil
	}
	x := &Exchange{Dialect: s.name(), ID: m.ID, Caller: c, Via: via, Received: received, Parent: m.Meta.Trace}
	if _, ok := methods[m.Method]; ok {
		x.Method = m.Method
	}
	if name, _ := subjectOf(m); m.Method == methodCall && (s.tools[name] != nil || s.apps != nil && s.apps.tools[name] != nil) {
		x.Tool = name
	}
	if slices.Contains(versions(), m.Meta.Version) {
		x.Protocol = m.Meta.Version
	}
	client, _ := objectIn[clientInfo](m.Meta.Client)
	x.Client = client.Name
	ctx, x.end = s.config.Observer(ctx, x)
	return ctx, x
}

// finish tells the observer that the request was answered, with a fault or, if it is nil, a
// result. A nil Exchange ignores it.
func (x *Exchange) finish(fault *rpcError) {
	if x == nil {
		return
	}
	if fault != nil {
		x.Code, x.Reason = fault.Code, fault.Reason
	}
	x.end()
	x.ID = nil // the line is used again
}

// other tells the observer, if there is one, of what is no request of the protocol.
func (s *Server) other(x *Exchange, fault *rpcError) {
	if s.config.Observer != nil {
		x.Bare = true
		_, x.end = s.config.Observer(context.Background(), x)
		x.finish(fault)
	}
}

package mcpserver

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// A connection is what the server knows of a client over several requests: whether the handshake was made, what
// the client said of itself, the requests in progress, and the subscriptions. It is safe for concurrent use.
type connection struct {
	server        *Server
	subscriptions *subscriptions // of resources/subscribe

	mu      sync.Mutex // guards the fields below
	opened  bool       // the handshake was made
	calls   map[*pendingCall]struct{}
	info    clientInfo
	can     capabilities
	version string // of the protocol, on which the handshake agreed
	asked   int    // requests for the client's roots
	root    string // directory that the client named, or ""
	fixed   bool   // a call was made with root: later ones belong to the same scope
}

func newConnection(server *Server) *connection {
	return &connection{server: server, subscriptions: newSubscriptions(server, nil), calls: make(map[*pendingCall]struct{})}
}

// close ends the subscriptions. Further calls do nothing.
func (c *connection) close() { c.subscriptions.close() }

// A pendingCall is a request from its arrival to its reply.
type pendingCall struct {
	request
	size     int       // bytes in memory while it waits
	received time.Time // zero for what is no request

	ctx    context.Context
	cancel context.CancelCauseFunc
}

// errByClient is the cause of the end of a call that the client has cancelled.
var errByClient = errors.New("mcpserver: the client has cancelled the request")

// begin begins a request, which can be cancelled from then on. The caller must call end.
func (c *connection) begin(ctx context.Context, m message) *pendingCall {
	call := &pendingCall{request: request{message: m, conn: c}}
	call.ctx, call.cancel = context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call] = struct{}{}
	return call
}

// cancelled reports whether the client has cancelled the call, so that it gets no reply.
func (p *pendingCall) cancelled() bool { return errors.Is(context.Cause(p.ctx), errByClient) }

// end ends a call and reports whether it was cancelled.
func (c *connection) end(call *pendingCall) (cancelled bool) {
	c.mu.Lock()
	delete(c.calls, call)
	c.mu.Unlock()
	cancelled = call.cancelled()
	call.cancel(nil)
	return cancelled
}

// cancel cancels the calls with an id, but not the handshake. An id of nil means all calls.
func (c *connection) cancel(id []byte) {
	key := idKey(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	for call := range c.calls {
		if id == nil || call.Method != methodInitialize && idKey(call.ID) == key {
			call.cancel(errByClient)
		}
	}
}

// hear takes a notification or a response of the client.
func (c *connection) hear(m *message) {
	switch {
	case m.Kind == kindResponse:
		c.learnRoot(m)
	case m.Kind != kindNotification:
	case m.Method == methodCancelled:
		if id := m.cancelled(); id != nil {
			c.cancel(id)
		}
	case m.Method == methodInitialized, m.Method == methodRootsChanged:
		c.askRoots()
	}
}

// askRoots asks a client that has roots for them. The reply decides the project of later calls.
func (c *connection) askRoots() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.can.Roots == nil {
		return
	}
	c.fixed = c.fixed && c.asked == 0
	c.asked++
	c.subscriptions.send([]byte(`{"jsonrpc":"2.0","id":"` + rootsID(c.asked) + `","method":"roots/list"}` + "\n"))
}

func rootsID(n int) string { return "roots-" + strconv.Itoa(n) }

// learnRoot takes the reply of the client to the latest request for its roots.
func (c *connection) learnRoot(m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id, _ := jsonscan.Text(m.ID); c.asked > 0 && !c.fixed && string(id) == rootsID(c.asked) {
		c.root = firstRoot(m.Result)
	}
}

// introduce takes what the client says in the handshake.
func (c *connection) introduce(info *clientInfo, can *capabilities, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = version
	if info != nil {
		c.info = *info
	}
	if can != nil {
		c.can = *can
	}
}

// client returns the description and the directory of the client, for a call.
func (c *connection) client() (info clientInfo, root string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fixed = true
	return c.info, c.root
}

// answer appends the reply to a request, which is a whole line. A request of the
// handshake era before the handshake is refused, and so is a second handshake.
func (c *connection) answer(ctx context.Context, line []byte, r *request) ([]byte, *rpcError) {
	r.Modern = r.message.Modern()
	if fault := c.admit(r); fault != nil {
		return appendError(line, r.ID, fault), fault
	}
	line, fault := c.server.answer(ctx, line, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Seen != nil && !r.Modern {
		r.Seen.Protocol, r.Seen.Client = c.version, c.info.Name
	}
	if fault == nil && r.Method == methodInitialize {
		c.opened = true
	}
	return line, fault
}

// admit returns the error for a request of the handshake era that is not allowed now.
func (c *connection) admit(r *request) *rpcError {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.Modern, r.Method == methodPing, r.Method == methodDiscover: // clients use the two to find the era
		return nil
	case r.Method == methodInitialize && c.opened:
		return errInitialized
	case r.Method != methodInitialize && !c.opened:
		return errUninitialized
	}
	return nil
}

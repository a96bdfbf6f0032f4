package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A connection is the connection of a client. It is safe for concurrent use.
type connection struct {
	server        *Server
	subscriptions *subscriptions // of the handshake era
	peer          innerPeer

	mu     sync.Mutex // guards the fields below
	opened bool       // the handshake was made
	seen   *Exchange  // the handshake, for an observer; nil after Close
	begun  time.Time  // of the connection, for an observer
	calls  map[*pendingCall]struct{}
}

// New returns a connection of a client with a server.
func newConnection(server *Server) *connection {
	return &connection{server: server, subscriptions: newSubscriptions(server, nil), calls: make(map[*pendingCall]struct{})}
}

// Subscriptions returns the subscriptions of resources/subscribe.
func (c *connection) Subscriptions() *subscriptions { return c.subscriptions }

// Close ends the subscriptions. Further calls do nothing.
func (c *connection) Close() {
	c.subscriptions.Close()
	c.mu.Lock()
	seen, begun := c.seen, c.begun
	c.seen = nil
	c.mu.Unlock()
	c.server.closed(seen, time.Since(begun))
}

// A pendingCall is a request from its arrival to its reply.
type pendingCall struct {
	request
	size     int       // bytes in memory while it waits
	received time.Time // zero for what is no request

	ctx    context.Context // nil for a message that is refused
	cancel context.CancelCauseFunc
}

// errCancelled is the cause of the end of a call that the client has cancelled.
var causeCancelled = errors.New("mcpserver: the client has cancelled the request")

// Begin begins a request, which can be cancelled from then on. The caller must call End.
func (c *connection) Begin(ctx context.Context, m message) *pendingCall {
	call := &pendingCall{request: request{message: m}}
	call.ctx, call.cancel = context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call] = struct{}{}
	return call
}

// Context returns the context of the work on a call.
func (c *pendingCall) Context() context.Context { return c.ctx }

// Cancelled reports whether the client has cancelled the call, so that it gets no reply.
func (c *pendingCall) Cancelled() bool { return errors.Is(context.Cause(c.ctx), causeCancelled) }

// End ends a call and reports whether it was cancelled.
func (c *connection) End(call *pendingCall) (cancelled bool) {
	c.mu.Lock()
	delete(c.calls, call)
	c.mu.Unlock()
	cancelled = call.Cancelled()
	call.cancel(nil)
	return cancelled
}

// Cancel cancels the calls with an id, but not the handshake. An id of nil means all calls.
func (c *connection) Cancel(id []byte) {
	key := idKey(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	for call := range c.calls {
		if id == nil || call.Method != methodInitialize && idKey(call.ID) == key {
			call.cancel(causeCancelled)
		}
	}
}

// Hear takes a notification or a response of the client.
func (c *connection) Hear(m *message) {
	switch {
	case m.Kind == kindResponse:
		c.peer.Answered(m)
	case m.Kind != kindNotification:
	case m.Method == methodCancelled:
		if id := m.Cancelled(); id != nil {
			c.Cancel(id)
		}
	case m.Method == methodInitialized, m.Method == methodRootsChanged:
		if line := c.peer.Ask(m.Method == methodRootsChanged); line != nil {
			c.subscriptions.Say(line)
		}
	}
}

// Answer appends the reply to a request, which is a whole line. A request of the
// handshake era before the handshake is refused, and so is a second handshake.
func (c *connection) Answer(ctx context.Context, line []byte, r *request) ([]byte, *rpcError) {
	r.Modern = r.message.Modern()
	r.Subscriptions, r.Peer = c.subscriptions, &c.peer
	if !r.Modern {
		if fault := c.admit(r.Method); fault != nil {
			return appendError(line, r.ID, fault), fault
		}
	}
	line, fault := c.server.answer(ctx, line, r)
	if r.Seen != nil && !r.Modern {
		r.Seen.Protocol, r.Seen.Client = c.peer.Introduced()
	}
	if fault == nil && r.Method == methodInitialize {
		c.mu.Lock()
		c.opened = true
		if c.seen = r.Seen; c.seen != nil {
			c.begun = time.Now()
		}
		c.mu.Unlock()
	}
	return line, fault
}

// admit returns the error for a request of the handshake era that is not allowed now.
func (c *connection) admit(name string) *rpcError {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case name == methodPing, name == methodDiscover: // clients use them to find the era
		return nil
	case name == methodInitialize && c.opened:
		return errInitialized
	case name != methodInitialize && !c.opened:
		return errUninitialized
	}
	return nil
}

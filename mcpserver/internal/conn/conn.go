// Package conn has the connection of a client: whether the handshake was made, the requests
// in progress, and the subscriptions to documents. [Serve] serves one whose messages come in
// order, such as that on standard input and output.
package conn

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/protocol"
)

// A Conn is the connection of a client. It is safe for concurrent use.
type Conn struct {
	server        *protocol.Server
	subscriptions *Subscriptions // of the handshake era
	peer          protocol.Peer

	mu     sync.Mutex         // guards the fields below
	opened bool               // the handshake was made
	seen   *protocol.Exchange // the handshake, for an observer; nil after Close
	begun  time.Time          // of the connection, for an observer
	calls  map[*Call]struct{}
}

// New returns a connection of a client with a server.
func New(server *protocol.Server) *Conn {
	return &Conn{server: server, subscriptions: newSubscriptions(server, nil), calls: make(map[*Call]struct{})}
}

// Subscriptions returns the subscriptions of resources/subscribe.
func (c *Conn) Subscriptions() *Subscriptions { return c.subscriptions }

// Close ends the subscriptions. Further calls do nothing.
func (c *Conn) Close() {
	c.subscriptions.Close()
	c.mu.Lock()
	seen, begun := c.seen, c.begun
	c.seen = nil
	c.mu.Unlock()
	c.server.Closed(seen, time.Since(begun))
}

// A Call is a request from its arrival to its reply.
type Call struct {
	protocol.Request
	message  protocol.Message
	size     int       // bytes in memory while it waits
	received time.Time // zero for what is no request

	ctx    context.Context // nil for a message that is refused
	cancel context.CancelCauseFunc
}

// errCancelled is the cause of the end of a call that the client has cancelled.
var errCancelled = errors.New("mcpserver: the client has cancelled the request")

// Begin begins a request, which can be cancelled from then on. The caller must call End.
func (c *Conn) Begin(ctx context.Context, m protocol.Message) *Call {
	call := &Call{message: m}
	call.Message = &call.message
	call.ctx, call.cancel = context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call] = struct{}{}
	return call
}

// Context returns the context of the work on a call.
func (c *Call) Context() context.Context { return c.ctx }

// Cancelled reports whether the client has cancelled the call, so that it gets no reply.
func (c *Call) Cancelled() bool { return errors.Is(context.Cause(c.ctx), errCancelled) }

// End ends a call and reports whether it was cancelled.
func (c *Conn) End(call *Call) (cancelled bool) {
	c.mu.Lock()
	delete(c.calls, call)
	c.mu.Unlock()
	cancelled = call.Cancelled()
	call.cancel(nil)
	return cancelled
}

// Cancel cancels the calls with an id, but not the handshake. An id of nil means all calls.
func (c *Conn) Cancel(id []byte) {
	key := protocol.IDKey(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	for call := range c.calls {
		if id == nil || call.Method != protocol.Initialize && protocol.IDKey(call.ID) == key {
			call.cancel(errCancelled)
		}
	}
}

// Hear takes a notification or a response of the client.
func (c *Conn) Hear(m *protocol.Message) {
	switch {
	case m.Kind == protocol.KindResponse:
		c.peer.Answered(m)
	case m.Kind != protocol.KindNotification:
	case m.Method == protocol.Cancelled:
		if id := m.Cancelled(); id != nil {
			c.Cancel(id)
		}
	case m.Method == protocol.Initialized, m.Method == protocol.RootsChanged:
		if line := c.peer.Ask(m.Method == protocol.RootsChanged); line != nil {
			c.subscriptions.Say(line)
		}
	}
}

// Answer appends the reply to a request, which is a whole line. A request of the
// handshake era before the handshake is refused, and so is a second handshake.
func (c *Conn) Answer(ctx context.Context, line []byte, r *protocol.Request) ([]byte, *protocol.Error) {
	r.Modern = r.Message.Modern()
	r.Subscriptions, r.Peer = c.subscriptions, &c.peer
	if !r.Modern {
		if fault := c.admit(r.Method); fault != nil {
			return protocol.AppendError(line, r.ID, fault), fault
		}
	}
	line, fault := c.server.Answer(ctx, line, r)
	if r.Seen != nil && !r.Modern {
		r.Seen.Protocol, r.Seen.Client = c.peer.Introduced()
	}
	if fault == nil && r.Method == protocol.Initialize {
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
func (c *Conn) admit(name string) *protocol.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case name == protocol.Ping, name == protocol.Discover: // clients use them to find the era
		return nil
	case name == protocol.Initialize && c.opened:
		return protocol.ErrInitialized
	case name != protocol.Initialize && !c.opened:
		return protocol.ErrUninitialized
	}
	return nil
}

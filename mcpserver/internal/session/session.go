package session

import (
	"context"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
)

// A Session is one connection. It is safe for concurrent use.
type Session struct {
	server        *method.Server
	client        method.Client  // nil for no limits
	subscriptions *Subscriptions // of the handshake era
	peer          method.Peer

	mu      sync.Mutex       // guards the fields below
	opened  bool             // the handshake was made
	seen    *method.Exchange // the handshake, for an observer; nil after Close
	begun   time.Time        // of the session, for an observer
	first   *Call            // of the calls in progress, in the order in which they were added
	last    *Call
	strayed *strayed // nil if messages arrive in the order in which they were sent
}

// New returns a session of a client with a server.
func New(server *method.Server, client method.Client) *Session {
	return &Session{server: server, client: client, subscriptions: newSubscriptions(server, client, nil)}
}

// NewUnordered is New for a connection whose messages can overtake each other, such as
// HTTP: a cancellation may arrive before its request.
func NewUnordered(server *method.Server, client method.Client) *Session {
	s := New(server, client)
	s.strayed = new(strayed)
	return s
}

// Subscriptions returns the subscriptions of resources/subscribe.
func (s *Session) Subscriptions() *Subscriptions { return s.subscriptions }

// Close ends the subscriptions. Further calls do nothing.
func (s *Session) Close() {
	s.subscriptions.Close()
	s.mu.Lock()
	seen, begun := s.seen, s.begun
	s.seen = nil
	s.mu.Unlock()
	s.server.Closed(seen, time.Since(begun))
}

// A Call is a request until its reply. A Call with the exported fields set can be added
// to a session.
type Call struct {
	message.Message
	Request method.Request // for transports that make one; its Message is the call's
	Size    int            // bytes in memory while it waits
	Guest   bool           // its memory was taken from a limit that clients share
	// Received is when the request was read; zero without an observer.
	Received time.Time

	// Guarded by Session.mu:
	next, prev *Call
	cancelled  bool   // no reply is expected
	cancel     func() // cancels the work; nil before it begins
}

// Add adds a call, which can be cancelled from then on.
func (s *Session) Add(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.prev = s.last
	if s.last != nil {
		s.last.next = c
	} else {
		s.first = c
	}
	s.last = c
	if s.strayed != nil && cancellable(c) {
		c.cancelled = s.strayed.claim(message.IDKey(c.ID))
	}
}

// Begin returns the context of the work on a call, or false if the call was cancelled
// before. The caller calls cancel at the end.
func (s *Session) Begin(ctx context.Context, c *Call) (_ context.Context, cancel context.CancelFunc, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.cancelled {
		return nil, nil, false
	}
	ctx, c.cancel = context.WithCancel(ctx)
	return ctx, c.cancel, true
}

// End removes a call and reports whether it was cancelled.
func (s *Session) End(c *Call) (cancelled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		s.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		s.last = c.prev
	}
	c.next, c.prev = nil, nil
	if s.strayed != nil && cancellable(c) {
		s.strayed.finished(message.IDKey(c.ID))
	}
	return c.cancelled
}

// cancellable reports whether the protocol allows to cancel a call: all but the
// handshake.
func cancellable(c *Call) bool { return c.Kind == message.Request && c.Method != method.Initialize }

// Cancel cancels the calls whose id has this [message.IDKey].
func (s *Session) Cancel(key string) {
	s.mu.Lock()
	var stop []func()
	known := false
	for c := s.first; c != nil; c = c.next {
		if cancellable(c) && message.IDKey(c.ID) == key {
			known = true
			stop = append(stop, c.drop())
		}
	}
	if !known && s.strayed != nil {
		s.strayed.early(key, time.Now())
	}
	s.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// Hear takes a notification or a response of the client.
func (s *Session) Hear(m *message.Message) {
	switch {
	case m.Kind == message.Response:
		s.peer.Answered(m)
	case m.Kind != message.Notification:
	case m.Method == method.Cancelled:
		s.Cancel(m.Cancelled())
	case m.Method == method.Initialized, m.Method == method.RootsChanged:
		if line := s.peer.Ask(m.Method == method.RootsChanged); line != nil {
			s.subscriptions.Say(line)
		}
	}
}

// CancelAll cancels all calls, for a client that has disconnected.
func (s *Session) CancelAll() {
	s.mu.Lock()
	var stop []func()
	for c := s.first; c != nil; c = c.next {
		stop = append(stop, c.drop())
	}
	s.mu.Unlock()
	for _, f := range stop {
		f()
	}
}

// drop marks a call as cancelled and returns the function that cancels its work. The
// caller holds Session.mu.
func (c *Call) drop() (stop func()) {
	c.cancelled = true
	if c.cancel == nil {
		return func() {}
	}
	return c.cancel
}

// Answer appends the reply to a request, which is a whole line. A request of the
// handshake era before the handshake is refused, and so is a second handshake.
func (s *Session) Answer(ctx context.Context, line []byte, r *method.Request) ([]byte, *message.Error) {
	r.Modern = r.Message.Modern()
	r.Client, r.Subscriptions, r.Peer = s.client, s.subscriptions, &s.peer
	if !r.Modern {
		if fault := s.admit(r.Method); fault != nil {
			return message.AppendError(line, r.ID, fault), fault
		}
	}
	line, fault := s.server.Answer(ctx, line, r)
	if r.Seen != nil && !r.Modern {
		r.Seen.Protocol, r.Seen.Client = s.peer.Introduced()
	}
	if fault == nil && r.Method == method.Initialize {
		s.mu.Lock()
		s.opened = true
		if s.seen = r.Seen; s.seen != nil {
			s.begun = time.Now()
		}
		s.mu.Unlock()
	}
	return line, fault
}

// admit returns the error for a request of the handshake era that is not allowed now.
func (s *Session) admit(name string) *message.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case name == method.Ping, name == method.Discover: // clients use them to find the era
		return nil
	case name == method.Initialize && s.opened:
		return message.ErrInitialized
	case name != method.Initialize && !s.opened:
		return message.ErrUninitialized
	}
	return nil
}

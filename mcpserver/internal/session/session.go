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
	subscriptions *Subscriptions // of the handshake era

	mu      sync.Mutex // guards what follows
	opened  bool       // the handshake was made
	first   *Call      // of those under way, in the order in which they were added
	last    *Call
	strayed *strayed // nil where messages arrive in the order in which they were sent
}

// New returns a session with a server.
func New(server *method.Server) *Session {
	return &Session{server: server, subscriptions: NewSubscriptions(server)}
}

// NewUnordered is New for a connection whose messages can overtake each other,
// as they do over HTTP: a cancellation that arrives before its request holds.
func NewUnordered(server *method.Server) *Session {
	s := New(server)
	s.strayed = new(strayed)
	return s
}

// Subscriptions returns the documents that the client has subscribed to by
// resources/subscribe.
func (s *Session) Subscriptions() *Subscriptions { return s.subscriptions }

// Close ends what the session is told.
func (s *Session) Close() { s.subscriptions.Close() }

// A Call is a request on its way to its reply. Its zero value but for its exported
// fields is ready to be added to a session.
type Call struct {
	message.Message
	Request method.Request // for transports that make one; its Message is the call's
	Size    int            // bytes that it takes while it waits

	// Guarded by Session.mu:
	next, prev *Call
	cancelled  bool   // no reply is wanted any more
	cancel     func() // stops the work on it; nil before that begins
}

// Add makes a call known, so that it can be cancelled before it begins.
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

// Begin returns the context of the work on a call. It reports false if the call
// was cancelled before. The caller calls cancel in the end.
func (s *Session) Begin(ctx context.Context, c *Call) (_ context.Context, cancel context.CancelFunc, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.cancelled {
		return nil, nil, false
	}
	ctx, c.cancel = context.WithCancel(ctx)
	return ctx, c.cancel, true
}

// End forgets a call. It reports whether it was cancelled.
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

// cancellable reports whether the protocol lets a client cancel a call: all but
// the handshake.
func cancellable(c *Call) bool { return c.Kind == message.Request && c.Method != method.Initialize }

// Cancel ends the calls with that key, which is one that [message.IDKey] gives.
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

// CancelAll cancels all calls, as when the client is gone.
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

// drop makes a call one that is cancelled, and returns what stops the work on it.
// The caller holds Session.mu.
func (c *Call) drop() (stop func()) {
	c.cancelled = true
	if c.cancel == nil {
		return func() {}
	}
	return c.cancel
}

// Answer appends the reply to a request, a whole line. A request of the handshake
// era is refused before the handshake, and a second handshake always.
func (s *Session) Answer(ctx context.Context, line []byte, r *method.Request) ([]byte, *message.Error) {
	r.Modern = r.Message.Modern()
	r.Subscriptions = s.subscriptions
	if !r.Modern {
		if fault := s.admit(r.Method); fault != nil {
			return message.AppendError(line, r.ID, fault), fault
		}
	}
	line, fault := s.server.Answer(ctx, line, r)
	if fault == nil && r.Method == method.Initialize {
		s.mu.Lock()
		s.opened = true
		s.mu.Unlock()
	}
	return line, fault
}

// admit returns why a request of the handshake era cannot be answered now.
func (s *Session) admit(name string) *message.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case name == method.Ping, name == method.Discover: // of which a client learns the era
		return nil
	case name == method.Initialize && s.opened:
		return message.ErrInitialized
	case name != method.Initialize && !s.opened:
		return message.ErrUninitialized
	}
	return nil
}

package mcpserver

import (
	"container/list"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// errFull is the error for a session that there is no room for.
var errFull = errors.New("mcpserver: there are too many sessions")

// An httpSession is what an older client opens by its handshake. It is a session
// of the protocol with the SDK's server, and has no thoughts.
type httpSession struct {
	id     string
	server *Server
	owner  string
	client string // whom limits are for
	bridge *bridge

	// Guarded by the mutex of the table:
	busy  int           // requests and streams under way
	ended bool          // to be closed when they are done
	idle  *list.Element // in the table's list while busy is 0
	since time.Time     // when that began
	timer *time.Timer   // ends the session; runs while busy is 0

	mu     sync.Mutex       // guards what follows
	calls  map[int64]string // keys of the ids of requests under way, by the bridge's
	stream *exchange        // what the client has open for the rest; may be nil
}

// unasked takes what the server sends, to the request that it is about or else to
// the stream for what is about none.
func (s *httpSession) unasked(ctx context.Context, m *jsonrpc.Request) error {
	s.mu.Lock()
	rest := s.stream
	s.mu.Unlock()
	return deliver(m, exchangeIn(ctx), rest)
}

// track remembers a request until the returned function is called.
func (s *httpSession) track(n int64, e *envelope) (forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = make(map[int64]string)
	}
	s.calls[n] = idKey(e.id)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, n)
	}
}

// cancel stops the work on the request with that key.
func (s *httpSession) cancel(key string) {
	s.mu.Lock()
	var found []int64
	for n, k := range s.calls {
		if k == key {
			found = append(found, n)
		}
	}
	s.mu.Unlock()
	for _, n := range found {
		s.bridge.cancel(n)
	}
}

// A sessionTable has the sessions of older clients.
type sessionTable struct {
	max     int // negative for any number
	timeout time.Duration

	mu       sync.Mutex
	sessions map[string]*httpSession
	opening  int       // reserved for sessions that are being opened
	idle     list.List // of *httpSession, the longest idle first
	closed   bool
}

func newSessionTable(limit int, timeout time.Duration) *sessionTable {
	return &sessionTable{max: limit, timeout: timeout, sessions: make(map[string]*httpSession)}
}

// begin opens a session, in which a request is under way: the caller must leave
// it. If there are too many, it takes the place of the one that was idle for the
// longest, rather one of the same client; if none is idle the error is errFull.
func (t *sessionTable) begin(ctx context.Context, server *Server, owner, client string) (*httpSession, error) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, errFull
	}
	var evicted *httpSession
	if t.max >= 0 && len(t.sessions)+t.opening >= t.max {
		if evicted = t.longestIdle(client); evicted == nil {
			t.mu.Unlock()
			return nil, errFull
		}
		t.remove(evicted)
	}
	t.opening++
	t.mu.Unlock()
	if evicted != nil {
		evicted.bridge.shut()
	}

	s := &httpSession{id: rand.Text(), server: server, owner: owner, client: client, busy: 1}
	var err error
	s.bridge, err = connect(context.WithoutCancel(ctx), server, s.unasked)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening--
	if err != nil {
		return nil, err
	}
	t.sessions[s.id] = s
	return s, nil
}

// longestIdle returns a session that nobody will miss soon, or nil. The caller
// holds mu.
func (t *sessionTable) longestIdle(client string) *httpSession {
	for e := t.idle.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*httpSession); s.client == client {
			return s
		}
	}
	if e := t.idle.Front(); e != nil {
		return e.Value.(*httpSession)
	}
	return nil
}

// enter finds a session for a request of its owner to its endpoint; nil if there
// is none. The caller must leave it.
func (t *sessionTable) enter(id string, server *Server, owner string) *httpSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessions[id]
	if s == nil || s.server != server || s.owner != owner {
		return nil
	}
	if s.idle != nil {
		t.idle.Remove(s.idle)
		s.idle = nil
		s.timer.Stop()
	}
	s.busy++
	return s
}

// leave says that a request of a session is done.
func (t *sessionTable) leave(s *httpSession) {
	t.mu.Lock()
	s.busy--
	last := s.busy == 0
	over := last && s.ended
	if last && !over {
		s.idle, s.since = t.idle.PushBack(s), time.Now()
		if t.timeout > 0 {
			if s.timer == nil {
				s.timer = time.AfterFunc(t.timeout, func() { t.expire(s) })
			} else {
				s.timer.Reset(t.timeout)
			}
		}
	}
	t.mu.Unlock()
	if over {
		s.bridge.shut()
	}
}

// expire ends a session, unless it was used in the last moment.
func (t *sessionTable) expire(s *httpSession) {
	t.mu.Lock()
	idle := s.idle != nil && time.Since(s.since) >= t.timeout
	if idle {
		t.remove(s)
	}
	t.mu.Unlock()
	if idle {
		s.bridge.shut()
	}
}

// end lets nobody enter a session any more. It is closed when those who are in it
// have left; the caller is one of them.
func (t *sessionTable) end(s *httpSession) {
	t.mu.Lock()
	t.remove(s)
	t.mu.Unlock()
	s.mu.Lock()
	stream := s.stream
	s.stream = nil
	s.mu.Unlock()
	if stream != nil {
		stream.hangUp()
	}
}

// remove takes a session out of the table. The caller holds mu.
func (t *sessionTable) remove(s *httpSession) {
	s.ended = true
	delete(t.sessions, s.id)
	if s.idle != nil {
		t.idle.Remove(s.idle)
		s.idle = nil
	}
	if s.timer != nil {
		s.timer.Stop()
	}
}

// shut ends all sessions that nobody is in.
func (t *sessionTable) shut() {
	t.mu.Lock()
	t.closed = true
	var idle []*httpSession
	for e := t.idle.Front(); e != nil; e = t.idle.Front() {
		s := e.Value.(*httpSession)
		t.remove(s)
		idle = append(idle, s)
	}
	t.mu.Unlock()
	for _, s := range idle {
		s.bridge.shut()
	}
}

// begin answers the handshake.
func (v *visit) begin(e *envelope) {
	s, err := v.h.sessions.begin(v.r.Context(), v.server, v.caller.Owner, v.client)
	switch {
	case errors.Is(err, errFull):
		v.h.logger.Warn("a client was turned away: all sessions are in use", "limit", v.h.sessions.max)
		v.w.Header().Set("Retry-After", "60")
		v.fail(http.StatusServiceUnavailable, e.id, &jsonrpc.Error{Code: codeFull,
			Message: "all MCP sessions of this server are in use; try again in a minute, or use protocol version " + firstModern + ", which needs none"})
		return
	case err != nil:
		v.fail(http.StatusInternalServerError, e.id, v.server.internal(e.method, "", err))
		return
	}
	defer v.h.sessions.leave(s)
	v.opened = s.id
	v.relay(s.bridge, e, v.exchange(e, v.callerIn(s)), s)
	if s.bridge.session.InitializeParams() == nil {
		v.h.sessions.end(s) // it was refused
	}
}

// listen opens the stream on which an older client hears what is about no request.
func (v *visit) listen() {
	s := v.session("a stream is opened with GET in a session: send messages with POST")
	if s == nil {
		return
	}
	defer v.h.sessions.leave(s)
	if !v.accepts("text/event-stream") {
		v.refuse(http.StatusNotAcceptable, "a stream is text/event-stream: Accept it")
		return
	}
	x := newExchange(v.callerIn(s))
	s.mu.Lock()
	before := s.stream
	s.stream = x
	s.mu.Unlock()
	if before != nil {
		// Its client has most likely lost it, and we do not know yet.
		before.hangUp()
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.stream == x {
			s.stream = nil
		}
		x.end()
	}()
	out := &stream{visit: v}
	defer out.stop()
	err := out.comment() // so that the client knows that it is open
	for err == nil {
		select {
		case <-x.wake:
			lines, more := x.take()
			if err = out.events(lines); !more {
				return
			}
		case <-out.silent():
			err = out.comment()
		case <-s.bridge.closed:
			return
		case <-v.h.closing:
			return
		case <-v.r.Context().Done():
			return
		}
	}
}

// delete ends a session, as its client wants. Calls under way are finished.
func (v *visit) delete() {
	s := v.session("DELETE ends a session: send messages with POST")
	if s == nil {
		return
	}
	defer v.h.sessions.leave(s)
	v.h.sessions.end(s)
	v.accept(http.StatusNoContent)
}

// session enters the session that a request without a message is about. If there
// is none it answers and returns nil.
func (v *visit) session(usage string) *httpSession {
	id, version := v.r.Header.Get(headerSession), v.r.Header.Get(headerVersion)
	switch {
	case version >= firstModern:
		v.w.Header().Set("Allow", http.MethodPost)
		v.refuse(http.StatusMethodNotAllowed, "from version %s on there are no sessions and no streams but replies: use POST", firstModern)
		return nil
	case id == "":
		v.notAllowed(usage)
		return nil
	}
	s := v.h.sessions.enter(id, v.server, v.caller.Owner)
	if s == nil {
		v.noSession(nil)
	}
	return s
}

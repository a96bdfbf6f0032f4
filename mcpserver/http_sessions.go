package mcpserver

import (
	"container/list"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/limits"
)

// errClosed is the error for a session of a server that ends.
var errClosed = errors.New("mcpserver: the server is shutting down")

// A clientSession is what a client of the handshake era opens. It is a session of
// the protocol, and has no thoughts.
type clientSession struct {
	*connection
	id     string
	server *Server
	owner  string
	client *limits.Client // one of whose Sessions it is

	// Guarded by the mutex of the table:
	busy   int           // requests and streams in progress
	idle   *list.Element // in the table's list while busy is 0
	since  time.Time     // when that began
	ended  bool          // to be closed when busy is 0
	stream *follower     // the open stream of GET; nil if there is none
}

// A follower is an open stream of GET.
type follower struct{ end func() }

// A sessionTable has the sessions of older clients.
type sessionTable struct {
	timeout time.Duration // negative means none

	mu       sync.Mutex
	sessions map[string]*clientSession
	idle     list.List // of *clientSession, the longest idle first
	closing  sync.WaitGroup
	closed   bool
}

func newSessionTable(timeout time.Duration) *sessionTable {
	return &sessionTable{timeout: timeout, sessions: make(map[string]*clientSession)}
}

// begin opens a session, in which a request is in progress: the caller must leave it. A
// client that may have no more gets it in the place of the one of its own that was
// idle for the longest. If none is idle, the error is a [limits.Refusal].
func (t *sessionTable) begin(server *Server, owner string, client *limits.Client) (*clientSession, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errClosed
	}
	t.expire()
	if err := client.Take(limits.Sessions); err != nil {
		if !t.replace(client) {
			return nil, err
		}
		if err := client.Take(limits.Sessions); err != nil {
			return nil, err
		}
	}
	s := &clientSession{
		connection: newConnection(server), id: rand.Text(), server: server, owner: owner, busy: 1,
		client: client.Retain(),
	}
	t.sessions[s.id] = s
	return s, nil
}

// enter finds a session for a request of its owner to its endpoint; nil if there
// is none. The caller must leave it.
func (t *sessionTable) enter(id string, server *Server, owner string) *clientSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	s := t.sessions[id]
	if s == nil || s.server != server || s.owner != owner {
		return nil
	}
	if s.idle != nil {
		t.idle.Remove(s.idle)
		s.idle = nil
	}
	s.busy++
	return s
}

// leave says that a request of a session is done.
func (t *sessionTable) leave(s *clientSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.busy--
	switch {
	case s.busy > 0:
	case s.ended || t.closed:
		t.close(s)
	default:
		s.idle, s.since = t.idle.PushBack(s), time.Now()
	}
}

// end refuses further requests of a session. It is closed when those in progress are
// done, of which the caller is one.
func (t *sessionTable) end(s *clientSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.ended = true
	delete(t.sessions, s.id)
	s.endStream()
}

// shut ends all sessions, and refuses new ones.
func (t *sessionTable) shut() {
	t.mu.Lock()
	t.closed = true
	for e := t.idle.Front(); e != nil; e = t.idle.Front() {
		t.close(e.Value.(*clientSession))
	}
	t.mu.Unlock()
	t.closing.Wait()
}

// expire ends the sessions that were idle for too long. The caller holds mu.
func (t *sessionTable) expire() {
	for e := t.idle.Front(); e != nil && t.timeout > 0; e = t.idle.Front() {
		s := e.Value.(*clientSession)
		if time.Since(s.since) < t.timeout {
			return
		}
		t.close(s)
	}
}

// replace ends the session of a client that was idle for the longest. It returns false if
// none is idle. The caller holds mu.
func (t *sessionTable) replace(client *limits.Client) bool {
	for e := t.idle.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*clientSession); s.client == client {
			t.close(s)
			return true
		}
	}
	return false
}

// close ends a session in which nothing is in progress. The caller holds mu.
func (t *sessionTable) close(s *clientSession) {
	delete(t.sessions, s.id)
	if s.idle != nil {
		t.idle.Remove(s.idle)
		s.idle = nil
	}
	s.client.Give(limits.Sessions)
	s.client.Release()
	t.closing.Go(s.Close) // not with mu held: it ends watches
}

// follow makes stream the open stream of the session and ends the previous one,
// which the client has most likely lost. It returns false if the session has ended.
func (t *sessionTable) follow(s *clientSession, stream *follower) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.endStream()
	s.stream = stream
	return !s.ended
}

// take returns what the client is told, for its open stream alone.
func (t *sessionTable) take(s *clientSession, stream *follower) [][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.stream != stream {
		s.Subscriptions().Nudge() // the other stream
		return nil
	}
	return s.Subscriptions().Take()
}

func (s *clientSession) endStream() {
	if s.stream != nil {
		s.stream.end()
		s.stream = nil
	}
}

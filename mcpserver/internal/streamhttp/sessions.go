package streamhttp

import (
	"container/list"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/session"
)

// errClosed is the error for a session of a server that ends.
var errClosed = errors.New("mcpserver: the server is shutting down")

// A clientSession is what a client of the handshake era opens. It is a session of
// the protocol, and has no thoughts.
type clientSession struct {
	*session.Session
	id     string
	server *method.Server
	owner  string
	client *governor.Subject // one of whose Sessions it is

	// Guarded by the mutex of the table:
	busy  int           // requests and streams under way
	ended bool          // to be closed when they are done
	idle  *list.Element // in the client's list while busy is 0
	since time.Time     // when that began
	timer *time.Timer   // ends the session; runs while busy is 0

	mu     sync.Mutex
	stream chan struct{} // closed to end the open stream of GET; nil if there is none
}

// follow makes stream the open stream of the session and ends the previous one,
// which the client has most likely lost. With nil the session has no stream.
func (s *clientSession) follow(stream chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		close(s.stream)
	}
	s.stream = stream
}

// unfollow says that a stream has ended.
func (s *clientSession) unfollow(stream chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == stream {
		s.stream = nil
	}
}

// take returns what the client is to be told, for its open stream alone.
func (s *clientSession) take(stream chan struct{}) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != stream {
		s.Subscriptions().Nudge() // the other stream
		return nil
	}
	return s.Subscriptions().Take()
}

// A sessionTable has the sessions of older clients.
type sessionTable struct {
	timeout time.Duration

	mu       sync.Mutex
	sessions map[string]*clientSession
	idle     map[*governor.Subject]*list.List // of *clientSession of each client, the longest idle first
	closed   bool
}

func newSessionTable(timeout time.Duration) *sessionTable {
	return &sessionTable{
		timeout: timeout, sessions: make(map[string]*clientSession), idle: make(map[*governor.Subject]*list.List),
	}
}

// begin opens a session, in which a request is under way: the caller must leave it. A
// client that may have no more gets it in the place of the one of its own that was
// idle for the longest. If none is idle, the error is a [governor.Refusal].
func (t *sessionTable) begin(server *method.Server, owner string, client *governor.Subject) (*clientSession, error) {
	s := &clientSession{
		Session: session.NewUnordered(server, client), id: rand.Text(), server: server, owner: owner, client: client, busy: 1,
	}
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, errClosed
	}
	var replaced *clientSession
	if err := client.Take(governor.Sessions, 1); err != nil {
		own := t.idle[client]
		if own == nil {
			t.mu.Unlock()
			return nil, err
		}
		replaced = own.Front().Value.(*clientSession)
		t.remove(replaced)
	}
	t.sessions[s.id] = s
	t.mu.Unlock()
	if replaced != nil {
		replaced.Close()
	}
	return s, nil
}

// enter finds a session for a request of its owner to its endpoint; nil if there
// is none. The caller must leave it.
func (t *sessionTable) enter(id string, server *method.Server, owner string) *clientSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessions[id]
	if s == nil || s.server != server || s.owner != owner {
		return nil
	}
	if s.idle != nil {
		t.unrest(s)
		s.timer.Stop()
	}
	s.busy++
	return s
}

// leave says that a request of a session is done.
func (t *sessionTable) leave(s *clientSession) {
	t.mu.Lock()
	s.busy--
	last := s.busy == 0
	over := last && s.ended
	if last && !over {
		own := t.idle[s.client]
		if own == nil {
			own = list.New()
			t.idle[s.client] = own
		}
		s.idle, s.since = own.PushBack(s), time.Now()
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
		s.Close()
	}
}

// expire ends a session, unless it was used in the last moment.
func (t *sessionTable) expire(s *clientSession) {
	t.mu.Lock()
	idle := s.idle != nil && time.Since(s.since) >= t.timeout
	if idle {
		t.remove(s)
		s.client.Give(governor.Sessions, 1)
	}
	t.mu.Unlock()
	if idle {
		s.Close()
	}
}

// end refuses further requests of a session. It is closed when those under way are
// done, of which the caller is one.
func (t *sessionTable) end(s *clientSession) {
	t.mu.Lock()
	if !s.ended {
		t.remove(s)
		s.client.Give(governor.Sessions, 1)
	}
	t.mu.Unlock()
	s.follow(nil)
}

// remove takes a session out of the table. It still counts as one of its client's.
// The caller holds mu.
func (t *sessionTable) remove(s *clientSession) {
	s.ended = true
	delete(t.sessions, s.id)
	t.unrest(s)
	if s.timer != nil {
		s.timer.Stop()
	}
}

// unrest makes a session one that is not idle. The caller holds mu.
func (t *sessionTable) unrest(s *clientSession) {
	if s.idle == nil {
		return
	}
	own := t.idle[s.client]
	own.Remove(s.idle)
	s.idle = nil
	if own.Len() == 0 {
		delete(t.idle, s.client)
	}
}

// shut ends all sessions without requests under way, and refuses new ones.
func (t *sessionTable) shut() {
	t.mu.Lock()
	t.closed = true
	var idle []*clientSession
	for _, s := range t.sessions {
		if s.idle != nil {
			t.remove(s)
			s.client.Give(governor.Sessions, 1)
			idle = append(idle, s)
		}
	}
	t.mu.Unlock()
	for _, s := range idle {
		s.Close()
	}
}

package streamhttp

import (
	"container/list"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/session"
)

// errFull is the error for a session that there is no room for.
var errFull = errors.New("mcpserver: there are too many sessions")

// A clientSession is what a client of the handshake era opens. It is a session of
// the protocol, and has no thoughts.
type clientSession struct {
	*session.Session
	id     string
	server *method.Server
	owner  string
	client string // whom limits are for

	// Guarded by the mutex of the table:
	busy  int           // requests and streams under way
	ended bool          // to be closed when they are done
	idle  *list.Element // in the table's list while busy is 0
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
	max     int // negative for any number
	timeout time.Duration

	mu       sync.Mutex
	sessions map[string]*clientSession
	idle     list.List // of *clientSession, the longest idle first
	closed   bool
}

func newSessionTable(limit int, timeout time.Duration) *sessionTable {
	return &sessionTable{max: limit, timeout: timeout, sessions: make(map[string]*clientSession)}
}

// begin opens a session, in which a request is under way: the caller must leave
// it. If there are too many, it takes the place of the one that was idle for the
// longest, rather one of the same client; if none is idle the error is errFull.
func (t *sessionTable) begin(server *method.Server, owner, client string) (*clientSession, error) {
	s := &clientSession{Session: session.NewUnordered(server), id: rand.Text(), server: server, owner: owner, client: client, busy: 1}
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, errFull
	}
	var evicted *clientSession
	if t.max >= 0 && len(t.sessions) >= t.max {
		if evicted = t.longestIdle(client); evicted == nil {
			t.mu.Unlock()
			return nil, errFull
		}
		t.remove(evicted)
	}
	t.sessions[s.id] = s
	t.mu.Unlock()
	if evicted != nil {
		evicted.Close()
	}
	return s, nil
}

// longestIdle returns the session of a client that was idle for the longest, else
// of any client; nil if none is idle. The caller holds mu.
func (t *sessionTable) longestIdle(client string) *clientSession {
	for e := t.idle.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*clientSession); s.client == client {
			return s
		}
	}
	if e := t.idle.Front(); e != nil {
		return e.Value.(*clientSession)
	}
	return nil
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
		t.idle.Remove(s.idle)
		s.idle = nil
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
		s.Close()
	}
}

// expire ends a session, unless it was used in the last moment.
func (t *sessionTable) expire(s *clientSession) {
	t.mu.Lock()
	idle := s.idle != nil && time.Since(s.since) >= t.timeout
	if idle {
		t.remove(s)
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
	t.remove(s)
	t.mu.Unlock()
	s.follow(nil)
}

// remove takes a session out of the table. The caller holds mu.
func (t *sessionTable) remove(s *clientSession) {
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

// shut ends all sessions without requests under way, and refuses new ones.
func (t *sessionTable) shut() {
	t.mu.Lock()
	t.closed = true
	var idle []*clientSession
	for e := t.idle.Front(); e != nil; e = t.idle.Front() {
		s := e.Value.(*clientSession)
		t.remove(s)
		idle = append(idle, s)
	}
	t.mu.Unlock()
	for _, s := range idle {
		s.Close()
	}
}

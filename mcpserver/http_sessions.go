package mcpserver

import (
	"container/list"
	"crypto/rand"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/limits"
)

// A clientSession is what a client of the handshake era opens: a connection over several HTTP requests. It has no
// thoughts.
type clientSession struct {
	*connection
	id, owner string
	holder    *limits.Client // one of whose Sessions it is

	// Guarded by the mutex of the table:
	busy     int           // requests and streams in progress
	idle     *list.Element // in the table's list while busy is 0
	since    time.Time     // when that began
	ended    bool          // to be closed when busy is 0
	unfollow func()        // ends the stream of the latest GET
}

// A sessionTable has the sessions of older clients.
type sessionTable struct {
	timeout time.Duration // negative means none

	mu       sync.Mutex
	sessions map[string]*clientSession
	idle     list.List // of *clientSession, the longest idle first
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
		return nil, limits.ErrEnding
	}
	t.expire()
	err := client.Take(limits.Sessions)
	if err != nil && t.replace(client) {
		err = client.Take(limits.Sessions)
	}
	if err != nil {
		return nil, err
	}
	s := &clientSession{
		connection: newConnection(server), id: rand.Text(), owner: owner, holder: client.Retain(), busy: 1, unfollow: func() {},
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
	if s.busy == 0 {
		t.idle.Remove(s.idle)
	}
	s.busy++
	return s
}

// leave says that a request of a session is done.
func (t *sessionTable) leave(s *clientSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.busy--; s.busy > 0 {
		return
	}
	s.idle, s.since = t.idle.PushBack(s), time.Now()
	if s.ended || t.closed {
		t.close(s)
	}
}

// end refuses further requests of a session. It is closed when those in progress are
// done, of which the caller is one.
func (t *sessionTable) end(s *clientSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.ended = true
	delete(t.sessions, s.id)
	s.unfollow()
}

// follow makes the stream that end ends that of the session, and ends the previous one,
// which the client has most likely lost. It returns false if the session has ended.
func (t *sessionTable) follow(s *clientSession, end func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.unfollow()
	s.unfollow = end
	return !s.ended
}

// shut ends all sessions, and refuses new ones.
func (t *sessionTable) shut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for e := t.idle.Front(); e != nil; e = t.idle.Front() {
		t.close(e.Value.(*clientSession))
	}
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
		if s := e.Value.(*clientSession); s.holder == client {
			t.close(s)
			return true
		}
	}
	return false
}

// close ends an idle session. The caller holds mu.
func (t *sessionTable) close(s *clientSession) {
	delete(t.sessions, s.id)
	t.idle.Remove(s.idle)
	s.holder.Give(limits.Sessions)
	s.holder.Release()
	go s.connection.close() // not with mu held: it ends watches
}

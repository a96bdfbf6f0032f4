package mcpserver

import (
	"context"
	"errors"
	"net/http"
)

// handshake answers a message of a version before 2026-07-28.
func (v *visit) handshake(m *message) {
	id := v.r.Header.Get(headerSession)
	initializes := m.Kind == kindRequest && m.Method == methodInitialize
	if m.Kind == kindRequest && !v.allowed(m) {
		return
	}
	switch {
	case id == "" && initializes:
		v.begin(m)
		return
	case id == "":
		v.fail(http.StatusBadRequest, m.ID, errUninitialized)
		return
	}
	s := v.h.sessions.enter(id, v.server, v.caller.Owner)
	if s == nil {
		v.noSession(m.ID)
		return
	}
	defer v.h.sessions.leave(s)
	switch {
	case initializes:
		v.fail(http.StatusBadRequest, m.ID, errInitialized)
	case m.Kind == kindRequest:
		v.call(s, m)
	default:
		s.hear(m)
		v.told = true // nothing is read or changed
		v.accept(http.StatusAccepted)
	}
}

// begin answers the handshake.
func (v *visit) begin(m *message) {
	s, err := v.h.sessions.begin(v.server, v.caller.Owner, v.client)
	switch {
	case errors.Is(err, errClosed):
		v.shuttingDown(m.ID)
		return
	case err != nil:
		v.refuseFor(err, m.ID)
		return
	}
	defer v.h.sessions.leave(s)
	if fault := v.call(s, m); fault != nil {
		v.h.sessions.end(s)
	}
}

// call answers a request in a session. A lost connection is no cancellation in
// these versions: a client that goes away says so by a notification.
func (v *visit) call(s *clientSession, m *message) *rpcError {
	ctx, cancel := context.WithCancel(context.WithoutCancel(v.r.Context()))
	defer cancel()
	defer context.AfterFunc(v.h.aborting, cancel)()
	c := s.connection.begin(ctx, *m)
	defer s.connection.end(c)
	if v.seen != nil {
		v.seen.Via.Session = s.id
	}
	c.Caller, c.Via, c.Turn, c.Seen = v.callerIn(s.id), v.via, v.turn, v.seen
	return v.relay(c.ctx, &c.request, func(ctx context.Context, line []byte, r *request) ([]byte, *rpcError) {
		line, fault := s.answer(ctx, line, r)
		if fault == nil && r.Method == methodInitialize {
			v.w.Header().Set(headerSession, s.id)
		}
		return line, fault
	})
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
func (v *visit) session(usage string) *clientSession {
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

func (v *visit) noSession(id []byte) {
	v.fail(http.StatusNotFound, id, invalidRequest(
		"there is no such MCP session, or it was idle for too long: send initialize again, without "+headerSession))
}

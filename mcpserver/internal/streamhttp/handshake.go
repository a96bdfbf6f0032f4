package streamhttp

import (
	"context"
	"errors"
	"net/http"

	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/session"
)

// handshake answers a message of a version before 2026-07-28.
func (v *visit) handshake(m *message.Message) {
	id := v.r.Header.Get(headerSession)
	initializes := m.Kind == message.Request && m.Method == method.Initialize
	if m.Kind == message.Request && !v.allowed(m) {
		return
	}
	switch {
	case id == "" && initializes:
		v.begin(m)
		return
	case id == "":
		v.fail(http.StatusBadRequest, m.ID, message.ErrUninitialized)
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
		v.fail(http.StatusBadRequest, m.ID, message.ErrInitialized)
	case m.Kind == message.Request:
		v.call(s, m)
	default:
		s.Hear(m)
		v.told = true // nothing is read or changed
		v.accept(http.StatusAccepted)
	}
}

// begin answers the handshake.
func (v *visit) begin(m *message.Message) {
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
func (v *visit) call(s *clientSession, m *message.Message) *message.Error {
	c := &session.Call{Message: *m}
	s.Add(c)
	defer s.End(c)
	if v.seen != nil {
		v.seen.Via.Session = s.id
	}
	r := &method.Request{Message: &c.Message, Caller: v.callerIn(s), Origin: v.origin, Seen: v.seen}
	ctx, cancel, ok := s.Begin(context.WithoutCancel(v.r.Context()), c)
	if !ok {
		v.finish(&stream{visit: v}, r, message.AppendError(nil, m.ID, message.ErrCancelled), message.ErrCancelled)
		return message.ErrCancelled
	}
	defer cancel()
	defer context.AfterFunc(v.h.aborting, cancel)()
	return v.relay(ctx, r, func(ctx context.Context, line []byte, r *method.Request) ([]byte, *message.Error) {
		line, fault := s.Answer(ctx, line, r)
		if fault == nil && r.Method == method.Initialize {
			v.w.Header().Set(headerSession, s.id)
		}
		return line, fault
	})
}

// follow opens the stream on which a client hears what is about no request.
func (v *visit) follow() {
	s := v.session("a stream is opened with GET in a session: send messages with POST")
	if s == nil {
		return
	}
	defer v.h.sessions.leave(s)
	if !v.accepts(eventStream) {
		v.refuse(http.StatusNotAcceptable, "a stream is text/event-stream: Accept it")
		return
	}
	if !v.take(governor.Streams, 1, nil) {
		return
	}
	mine := make(chan struct{})
	s.follow(mine)
	defer s.unfollow(mine)
	out := &stream{visit: v}
	defer out.stop()
	err := out.comment() // so that the client knows that it is open
	v.other()
	for err == nil {
		select {
		case <-s.Subscriptions().Wake():
			if err = v.still(v.r.Context()); err == nil {
				err = out.events(s.take(mine)...)
			}
		case <-out.silent():
			if err = v.still(v.r.Context()); err == nil {
				err = out.comment()
			}
		case <-mine:
			return
		case <-v.h.ending.Done():
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
func (v *visit) session(usage string) *clientSession {
	id, version := v.r.Header.Get(headerSession), v.r.Header.Get(headerVersion)
	switch {
	case version >= message.FirstModern:
		v.w.Header().Set("Allow", http.MethodPost)
		v.refuse(http.StatusMethodNotAllowed, "from version %s on there are no sessions and no streams but replies: use POST", message.FirstModern)
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
	v.fail(http.StatusNotFound, id, message.InvalidRequest(
		"there is no such MCP session, or it was idle for too long: send initialize again, without "+headerSession))
}

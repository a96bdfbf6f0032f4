package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/limits"
)

// heartbeat is how long a stream that waits for changes may be silent. A client that is
// gone is noticed by writing to it.
const heartbeat = 20 * time.Second

// replySize is how many bytes a reply has room for before it is known.
const replySize = 1 << 10

// An answerer appends the reply to a request to a line.
type answerer func(ctx context.Context, line []byte, r *request) ([]byte, *rpcError)

// relay answers a request with a document, or with events if the call reports its progress or the client
// accepts nothing else. The call of a client that is gone goes on, if its context does.
func (v *visit) relay(ctx context.Context, r *request, f answerer) *rpcError {
	if !v.enter(r.ID) {
		return errEnding
	}
	out := &stream{visit: v}
	r.MaxReply = v.h.config.MaxReply
	if v.accepts(eventStream) {
		r.Notify = func(line []byte) { _ = out.events(line) } // a stream that has failed stays so
	}
	line, fault := f(ctx, make([]byte, 0, replySize), r)
	v.h.active.Done()
	if out.begun || !v.accepts(jsonType) {
		v.fault = fault
		_ = out.events(line) // the request is over either way
	} else {
		v.send(statusOf(r.Modern, fault), line, fault)
	}
	return fault
}

// listen answers subscriptions/listen by a stream that lasts.
func (v *visit) listen(ctx context.Context, r *request) {
	if !v.accepts(eventStream) {
		v.refuse(http.StatusNotAcceptable, "a subscription is text/event-stream: Accept it")
		return
	}
	if err := v.client.Take(limits.Streams); err != nil {
		v.refuseFor(err, r.ID)
		return
	}
	defer v.client.Give(limits.Streams)
	l, fault := listen(ctx, v.server, r)
	if fault != nil {
		v.fail(statusOf(true, fault), r.ID, fault)
		return
	}
	defer l.close()
	v.status = http.StatusOK
	v.report() // the rest is the stream
	out := &stream{visit: v}
	if out.events(l.acknowledgement) == nil && (l.empty || v.notify(ctx, out, l.subscriptions)) {
		_ = out.events(l.result) // the subscription is over either way
	}
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
	if err := v.client.Take(limits.Streams); err != nil {
		v.refuseFor(err, nil)
		return
	}
	defer v.client.Give(limits.Streams)
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	if !v.h.sessions.follow(s, cancel) {
		v.noSession(nil)
		return
	}
	out := &stream{visit: v}
	err := out.comment() // so that the client knows that it is open
	v.report()
	if err == nil {
		v.notify(ctx, out, s.subscriptions)
	}
}

// notify sends notifications until the stream fails, its token is not valid any more, or ctx is done.
// It returns true if the server ends.
func (v *visit) notify(ctx context.Context, out *stream, from *subscriptions) (ended bool) {
	v.giveCall() // from here on it is a stream
	t := time.NewTicker(heartbeat)
	defer t.Stop()
	return from.follow(ctx, v.h.ending.Done(), t.C, func(lines []byte) error {
		if err := v.still(ctx); err != nil {
			return err
		}
		if len(lines) == 0 {
			return out.comment()
		}
		return out.events(lines)
	})
}

// A stream is a reply in the form of events. Nothing of it is written until there is an
// event. It is safe for concurrent use.
type stream struct {
	*visit
	mu    sync.Mutex
	begun bool
	err   error // of writing
}

// events writes lines that end in a newline, each as an event.
func (s *stream) events(lines []byte) error {
	var text []byte
	for line := range bytes.Lines(lines) {
		text = append(append(append(text, "event: message\ndata: "...), line...), '\n')
	}
	return s.send(text)
}

// comment writes what clients skip.
func (s *stream) comment() error { return s.send([]byte(": still here\n\n")) }

func (s *stream) send(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", eventStream)
		s.w.Header().Set("X-Accel-Buffering", "no") // a proxy that gathers would keep it
		s.accept(http.StatusOK)
	}
	if s.err = s.write(text); s.err == nil {
		s.limitWrite()
		if err := s.control.Flush(); !errors.Is(err, http.ErrNotSupported) {
			s.err = err
		}
	}
	return s.err
}

package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/session"
)

// The media types of replies.
const (
	document    = "application/json"
	eventStream = "text/event-stream"
)

// heartbeat is how long a stream may be silent. A client that is gone is noticed
// by writing to it.
const heartbeat = 20 * time.Second

// An answer appends the reply to a request to a line.
type answer func(ctx context.Context, line []byte, r *method.Request) ([]byte, *message.Error)

// replySize is how many bytes a reply has room for before it is known.
const replySize = 1 << 10

// relay answers a request. If the client wants to hear of its progress the reply
// is a stream of events as soon as there is something to say.
func (v *visit) relay(ctx context.Context, r *method.Request, f answer) (fault *message.Error) {
	out := &stream{visit: v}
	defer out.stop()
	var reply *governor.Reply
	f = v.weigh(f, &reply)
	defer func() {
		if reply != nil {
			reply.Sent()
		}
	}()
	said := newOutgoing(v.client)
	defer said.close()
	progress := method.NewProgress(r.Message, said)
	progress.Attach(r)
	if progress == nil || !v.accepts(eventStream) {
		line, fault := f(ctx, make([]byte, 0, replySize), r)
		progress.End()
		v.finish(out, r, line, fault)
		return fault
	}
	var line []byte
	done := make(chan struct{})
	go func() {
		defer close(done)
		line, fault = f(ctx, nil, r)
		progress.End()
	}()
	var err error // of writing; the call goes on, as that of a client that is gone
	gone := v.r.Context().Done()
	for {
		select {
		case <-done:
			if lines := said.take(); err == nil && len(lines) > 0 {
				err = out.events(lines...)
			}
			if err == nil {
				v.finish(out, r, line, fault)
			}
			return fault
		case <-said.wake:
			if lines := said.take(); err == nil {
				err = out.events(lines...)
			}
		case <-out.silent():
			if err == nil {
				err = out.comment()
			}
		case <-gone:
			err, gone = v.r.Context().Err(), nil
		}
	}
}

// weigh returns an answer that waits until there is memory for its reply, which is the
// client's BytesOut until the reply is sent. It puts what it holds into reply.
func (v *visit) weigh(f answer, reply **governor.Reply) answer {
	return func(ctx context.Context, line []byte, r *method.Request) ([]byte, *message.Error) {
		var err error
		if *reply, err = v.client.Reply(ctx, v.server.ReplyKind(r.Message)); err != nil {
			fault := method.Refused(err)
			if fault == nil {
				fault = message.ErrCancelled
			}
			return message.AppendError(line, r.ID, fault), fault
		}
		r.Room = func(n int) *message.Error { return v.room(*reply, n) }
		line, fault := f(ctx, line, r)
		if unsent := v.room(*reply, len(line)); unsent != nil {
			return message.AppendError(nil, r.ID, unsent), unsent
		}
		return line, fault
	}
}

// room counts a reply of n bytes as the client's. If it cannot be sent, it counts as
// nothing, and room returns the error to send instead.
func (v *visit) room(reply *governor.Reply, n int) *message.Error {
	limit := v.h.maxReply
	if limit < 0 || n <= limit {
		fault := method.Refused(reply.Made(int64(n), int64(n)))
		if fault == nil {
			return nil
		}
		fault.Message = "the request was carried out, but its reply cannot be sent: " + fault.Message
		_ = reply.Made(0, int64(n)) // which needs no room
		return fault
	}
	_ = reply.Made(0, int64(n))
	return &message.Error{Code: message.CodeInternal, Message: fmt.Sprintf(
		"the request was carried out, but its reply has %d bytes or more, of at most %d, and cannot be sent: ask for less", n, limit)}
}

// listen answers subscriptions/listen by a stream that lasts.
func (v *visit) listen(r *method.Request) {
	if !v.accepts(eventStream) {
		v.refuse(http.StatusNotAcceptable, "a subscription is text/event-stream: Accept it")
		return
	}
	if !v.take(governor.Streams, 1, r.ID) {
		return
	}
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.h.aborting, cancel)()
	l, fault := session.Listen(ctx, v.server, r)
	if fault != nil {
		v.fail(statusOf(true, fault), r.ID, fault)
		return
	}
	defer l.Close()
	v.status = http.StatusOK
	v.answered()           // the rest is the stream
	v.drop(governor.Calls) // from here on it is a stream, and its request is short
	v.drop(governor.BytesIn)
	out := &stream{visit: v}
	defer out.stop()
	err := out.events(l.Acknowledgement())
	for err == nil && !l.Empty() {
		select {
		case <-l.Wake():
			if err = v.still(v.r.Context()); err == nil {
				err = out.events(l.Take()...)
			}
		case <-out.silent():
			if err = v.still(v.r.Context()); err == nil {
				err = out.comment()
			}
		case <-ctx.Done():
			return
		case <-v.h.ending.Done():
			_ = out.events(l.Result()) // the subscription is over either way
			return
		}
	}
	if err == nil {
		_ = out.events(l.Result())
	}
}

// A stream is a reply in the form of events. Its zero value but for visit has not
// begun, and nothing of it is written until there is an event.
type stream struct {
	*visit
	timer *time.Timer // of the next heartbeat; nil before the beginning
}

func (s *stream) begun() bool { return s.timer != nil }

// begin writes the header.
func (s *stream) begin() {
	if s.begun() {
		return
	}
	s.timer = time.NewTimer(heartbeat)
	s.w.Header().Set("Content-Type", eventStream)
	s.w.Header().Set("X-Accel-Buffering", "no") // a proxy that gathers would keep it
	s.status = http.StatusOK
	s.w.WriteHeader(http.StatusOK)
}

// events writes lines that end in a newline, each as an event.
func (s *stream) events(lines ...[]byte) error {
	if len(lines) == 0 {
		return nil
	}
	s.begin()
	for _, line := range lines {
		for _, part := range [][]byte{[]byte("event: message\ndata: "), line, []byte("\n")} {
			if err := s.write(part); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

// comment writes what clients skip.
func (s *stream) comment() error {
	s.begin()
	if err := s.write([]byte(": still here\n\n")); err != nil {
		return err
	}
	return s.flush()
}

// flush sends what was written.
func (s *stream) flush() error {
	s.timer.Reset(heartbeat)
	s.limitWrite()
	defer s.hurry(s.control.SetWriteDeadline)()
	if err := s.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// silent returns the channel that says when to write a comment; nil before the
// beginning.
func (s *stream) silent() <-chan time.Time {
	if s.timer == nil {
		return nil
	}
	return s.timer.C
}

func (s *stream) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

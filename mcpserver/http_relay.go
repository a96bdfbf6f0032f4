package mcpserver

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// heartbeat is how long a stream may be silent. A client that is gone is noticed
// by writing to it.
const heartbeat = 20 * time.Second

// relay has the SDK answer a request and writes the reply, after whatever is said
// before it. s is the session of an older client, or nil.
func (v *visit) relay(b *bridge, e *envelope, x *exchange, s *httpSession) {
	defer x.end()
	n, reply := b.call(e, x.extra())
	if s != nil {
		defer s.track(n, e)()
	}
	out := &stream{visit: v}
	defer out.stop()
	gone := v.r.Context().Done()
	abort := v.h.abort
	closing := v.h.closing
	if e.method != methodListen {
		closing = nil // it will not take for ever
	}
	lost := func() {
		x.end()
		gone = nil
		if e.modern {
			b.cancel(n) // an older client may still want it done
		}
	}
	for {
		select {
		case r := <-reply:
			if gone == nil {
				return
			}
			v.finish(out, x, e, r)
			return
		case <-b.closed:
			select {
			case r := <-reply:
				v.finish(out, x, e, r)
			default:
				v.noSession(e.id)
			}
			return
		case <-x.wake:
			lines, more := x.take()
			if !v.accepts("text/event-stream") {
				break // they are not for this client
			}
			if out.events(lines) != nil || !more && gone != nil {
				lost()
			}
		case <-out.silent():
			if out.comment() != nil {
				lost()
			}
		case <-gone:
			lost()
		case <-closing:
			closing = nil
			b.cancel(n)
		case <-abort:
			abort = nil
			b.cancel(n)
		}
	}
}

// finish writes the reply to a request.
func (v *visit) finish(out *stream, x *exchange, e *envelope, r *jsonrpc.Response) {
	var fault *jsonrpc.Error
	line := []byte(nil)
	if r.Error != nil {
		fault = v.server.wireError(e.method, r.Error)
		line = errorLine(e.id, fault)
	} else {
		line = resultLine(e.id, r.Result)
	}
	if v.opened != "" && fault == nil {
		v.w.Header().Set(headerSession, v.opened)
	}
	lines, _ := x.take()
	if out.begun() || len(lines) > 0 && v.accepts("text/event-stream") || !v.accepts("application/json") {
		_ = out.events(append(lines, line)) // the request is over either way
		return
	}
	v.hurry()
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Length", strconv.Itoa(len(line)))
	v.w.WriteHeader(statusOf(e.modern, fault))
	_, _ = v.w.Write(line) // the request is over either way
}

// hurry bounds the time that the next write may take.
func (v *visit) hurry() {
	_ = v.control.SetWriteDeadline(v.h.deadline()) // a test's writer may not have one
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
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("X-Accel-Buffering", "no") // proxies that gather would keep it for themselves
	s.w.WriteHeader(http.StatusOK)
}

// events writes lines that end in a newline, each as an event.
func (s *stream) events(lines [][]byte) error {
	if len(lines) == 0 {
		return nil
	}
	s.begin()
	var buf []byte
	for _, line := range lines {
		buf = append(buf, "event: message\ndata: "...)
		buf = append(buf, line...)
		buf = append(buf, '\n')
	}
	return s.write(buf)
}

// comment writes what clients skip.
func (s *stream) comment() error {
	s.begin()
	return s.write([]byte(": still here\n\n"))
}

func (s *stream) write(buf []byte) error {
	s.timer.Reset(heartbeat)
	s.hurry()
	if _, err := s.w.Write(buf); err != nil {
		return err
	}
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

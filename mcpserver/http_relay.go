package mcpserver

import (
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/sequent-dev/sequent/tool"
)

// heartbeat is how long a stream may be silent. A client that is gone is noticed
// by writing to it.
const heartbeat = 20 * time.Second

// relay has the SDK answer a request and writes the reply, after whatever is said
// before it. s is the session of an older client, or nil. It reports whether the
// reply was a result.
func (v *visit) relay(b *bridge, e *envelope, x *exchange, s *httpSession) (ok bool) {
	defer x.end()
	n, reply := b.call(e, x.extra())
	if s != nil {
		defer s.track(n, e)()
	}
	out := &stream{visit: v}
	defer out.stop()
	gone := v.r.Context().Done()
	abort := v.h.aborting.Done()
	closing := v.h.closing
	if e.method != methodListen {
		closing = nil // it will not take for ever
	}
	deaf := false // the client reads no more
	lost := func() {
		x.end()
		deaf, gone = true, nil
		if e.modern {
			b.cancel(n) // an older client may still want it done
		}
	}
	for {
		select {
		case r := <-reply:
			if !deaf {
				v.finish(out, x, e, r)
			}
			return r.Error == nil
		case <-b.closed:
			// Which is after all that was under way.
			select {
			case r := <-reply:
				v.finish(out, x, e, r)
			default:
				v.noSession(e.id)
			}
			return false
		case <-x.wake:
			if lines, more := x.take(); !deaf && (out.events(lines) != nil || !more) {
				lost()
			}
		case <-out.silent():
			if !deaf && out.comment() != nil {
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

// exchange returns an exchange for a request. Who takes no events is sent none.
func (v *visit) exchange(e *envelope, c tool.Caller) *exchange {
	x := newExchange(c)
	if !v.accepts("text/event-stream") {
		x.end()
	}
	if e.method == methodCallTool {
		x.progress = newProgress(progressToken(e.params), x.offer)
	}
	return x
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
	if out.begun() || len(lines) > 0 || !v.accepts("application/json") {
		_ = out.events(append(lines, line)) // the request is over either way
		return
	}
	v.send(statusOf(e.modern, fault), line)
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

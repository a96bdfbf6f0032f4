package stdio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/session"
)

// InlineLimit is how long the reading goroutine may answer a call before another
// goroutine continues reading. It can take twice that.
const InlineLimit = time.Millisecond

// A reader reads a connection, in one goroutine at a time. That goroutine answers a call
// itself if no other call waits, which saves a single call the switch to another
// goroutine and back. If the call takes longer than InlineLimit, another goroutine
// continues reading, so that cancellations and pings are still read.
type reader struct {
	lines lineReader
	ended chan<- error // receives the error at the end of the input

	inline  int64        // number of calls answered inline; used by the reading goroutine
	current atomic.Int64 // number of the current inline call; 0 for none
	watched atomic.Bool  // the timer runs
	seen    atomic.Int64 // value of current when the timer ran last
	timer   *time.Timer
}

func newReader(in io.Reader, maxLine int, ended chan<- error, relieve func()) *reader {
	r := &reader{lines: lineReader{r: bufio.NewReaderSize(in, 64<<10), max: maxLine}, ended: ended}
	r.timer = time.AfterFunc(time.Hour, relieve)
	r.timer.Stop()
	return r
}

// read reads messages until the input ends, the connection is closed, or another
// goroutine continues.
func (c *conn) read() {
	for {
		more, err := c.readOne()
		switch {
		case errors.Is(err, errRelieved):
			return
		case err != nil && !errors.Is(err, io.EOF):
			c.reader.ended <- err // before the queue closes: its reader expects the error then
		case err != nil || !more:
			c.reader.ended <- nil
		default:
			continue
		}
		close(c.ended)
		c.queue.close()
		if c.guest != nil {
			c.session.CancelAll()
		}
		return
	}
}

// errRelieved means that another goroutine continues reading.
var errRelieved = errors.New("mcpserver: another goroutine reads on")

// readOne reads and handles a message. It returns false if the connection is closed.
func (c *conn) readOne() (more bool, err error) {
	lines := &c.reader.lines
	line, long, err := lines.next()
	if err != nil {
		return false, err
	}
	call := &session.Call{Size: len(line)}
	switch {
	case long != nil:
		call.Message = message.Message{Kind: message.Refused, ID: long.id, Fault: message.InvalidRequest(
			fmt.Sprintf("the line is longer than %d bytes", c.maxLine))}
	case message.IsBlank(line):
		return true, nil
	default:
		call.Message = message.Parse(line)
	}
	switch {
	case call.Kind != message.Request && call.Kind != message.Refused:
		c.session.Hear(&call.Message)
		return true, nil // no reply is expected
	case call.Kind == message.Request && call.Method == method.Ping:
		// A ping is about the server, so it does not wait for the queue.
		reply, _ := c.session.Answer(c.ctx, nil, &method.Request{Message: &call.Message, Caller: c.caller})
		_ = c.out.put(reply) // if that fails, the connection ends
		c.out.flush()
		return true, nil
	}
	if call.Kind == message.Request && c.server.Observed() {
		call.Received = time.Now()
	}
	c.admit(call)
	c.session.Add(call)
	if c.queue.take(call) {
		if !c.answerInline(call) {
			return false, errRelieved
		}
		return true, nil
	}
	ok, taken := c.queue.put(call)
	if !ok {
		c.session.End(call)
		if call.Guest {
			c.guest.Leave(call.Size)
		}
		return false, nil
	}
	if taken {
		c.running.Go(c.answerQueue)
	}
	if lines.r.Buffered() == 0 {
		// The next read can block the thread, and the scheduler takes a while to run
		// other goroutines then.
		runtime.Gosched()
	}
	return true, nil
}

// answerInline answers a call if the queue is empty. It reports whether the caller
// continues reading; otherwise it has also answered the queue.
func (c *conn) answerInline(call *session.Call) (reading bool) {
	r := c.reader
	r.inline++
	n := r.inline
	r.current.Store(n)
	if !r.watched.Swap(true) {
		r.timer.Reset(InlineLimit)
	}
	c.answer(call)
	if reading = r.current.CompareAndSwap(n, 0); !reading {
		c.written(c.queue.waiting())
		c.answerQueue()
		return false
	}
	c.queue.next() // the queue is empty, so this gives it back
	c.written(r.lines.ready())
	return true
}

// relieve starts another reading goroutine if the current inline call is still the one
// that it saw last.
func (c *conn) relieve() {
	r := c.reader
	r.watched.Store(false) // first, for a call that begins now
	n := r.current.Load()
	if n == 0 {
		return
	}
	if r.seen.Swap(n) == n && r.current.CompareAndSwap(n, 0) {
		go c.read()
		return
	}
	if !r.watched.Swap(true) {
		r.timer.Reset(InlineLimit)
	}
}

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

// InlineLimit is how long the goroutine that reads may answer a call before
// another one reads on. It can be twice that.
const InlineLimit = time.Millisecond

// A reader reads a connection, in one goroutine at a time. That goroutine answers
// a call itself if no other waits, which spares a lone call the way to another
// goroutine and back. If the call takes longer than InlineLimit another goroutine
// reads on, so that a cancellation or a ping is heard at any time.
type reader struct {
	lines lineReader
	ended chan<- error // receives how the input ended

	inline  int64        // calls answered while reading; of the goroutine that reads
	current atomic.Int64 // the one under way; 0 for none
	watched atomic.Bool  // the timer runs
	seen    atomic.Int64 // the one that the timer met last
	timer   *time.Timer
}

func newReader(in io.Reader, maxLine int, ended chan<- error, relieve func()) *reader {
	r := &reader{lines: lineReader{r: bufio.NewReaderSize(in, 64<<10), max: maxLine}, ended: ended}
	r.timer = time.AfterFunc(time.Hour, relieve)
	r.timer.Stop()
	return r
}

// read reads messages until the input ends, the connection is closed, or another
// goroutine reads on.
func (c *conn) read() {
	for {
		more, err := c.readOne()
		switch {
		case errors.Is(err, errRelieved):
			return
		case err != nil && !errors.Is(err, io.EOF):
			c.reader.ended <- err // before the queue is closed, so that it is there when that ends
		case err != nil || !more:
			c.reader.ended <- nil
		default:
			continue
		}
		c.queue.close()
		return
	}
}

// errRelieved says that another goroutine reads on.
var errRelieved = errors.New("mcpserver: another goroutine reads on")

// readOne reads a message and sees to it. It reports false when the connection is
// closed.
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
	case call.Kind == message.Notification && call.Method == method.Cancelled:
		c.session.Cancel(call.Cancelled())
		return true, nil
	case call.Kind != message.Request && call.Kind != message.Refused:
		return true, nil // nothing was asked
	case call.Kind == message.Request && call.Method == method.Ping:
		// A ping asks whether the server lives, not whether the queue is short.
		reply, _ := c.session.Answer(c.ctx, nil, &method.Request{Message: &call.Message, Caller: c.caller})
		_ = c.out.put(reply) // if that fails, the connection ends
		c.out.flush()
		return true, nil
	}
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
		return false, nil
	}
	if taken {
		c.running.Go(c.answerQueue)
	}
	if lines.r.Buffered() == 0 {
		// The read that follows can block the thread, and it takes the scheduler a
		// while to see that others could run.
		runtime.Gosched()
	}
	return true, nil
}

// answerInline answers a call that has nothing before it. It reports whether the
// caller still reads; otherwise it has answered the queue, too.
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
	c.queue.next() // nothing else was read meanwhile, so that this gives the queue back
	c.written(r.lines.ready())
	return true
}

// relieve has another goroutine read if the call that is answered inline is the
// one that it met last.
func (c *conn) relieve() {
	r := c.reader
	r.watched.Store(false) // first, so that a call that begins now sees it
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

package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// quick is how long a call may take for the next to be answered by whoever
	// reads it. To hand it to somebody else costs half as much, and pays where
	// calls wait, for a disk or for each other.
	quick = 20 * time.Microsecond
	// stubborn is how many calls in a row must not be quick for that to end: one
	// of them may have met a busy machine.
	stubborn = 4
	// relief is how long one may take before somebody else reads on. It may be
	// twice that.
	relief = time.Millisecond
)

// A reading is the duty to read a connection, which one at a time has. He answers
// a plain call himself as long as those take no time; one that does costs him the
// duty, so that a cancellation or a ping is always heard.
type reading struct {
	lines lineReader
	done  chan<- error // receives how the input ended

	slow    atomic.Int32 // plain calls since the last that was quick
	calls   int64        // answered by a reader so far; of whoever has the duty
	call    atomic.Int64 // the one that the reader is at; 0 if he reads
	watched atomic.Bool  // the timer runs
	seen    atomic.Int64 // the call that the timer met last
	timer   *time.Timer
	room    []byte // for a reply; of whoever has the duty
}

// read reads messages until the input ends, the connection is closed, or somebody
// else does.
func (c *stdio) read() {
	for {
		more, err := c.readOne()
		switch {
		case errors.Is(err, errRelieved):
			return
		case err != nil && !errors.Is(err, io.EOF):
			c.reading.done <- err // before the queue is closed, so that it is there when that ends
		case err != nil || !more:
			c.reading.done <- nil
		default:
			continue
		}
		c.in.close()
		return
	}
}

// errRelieved says that somebody else reads.
var errRelieved = errors.New("mcpserver: somebody else reads")

// readOne reads a message and sees to it. It reports false when the connection is
// closed.
func (c *stdio) readOne() (more bool, err error) {
	lines := &c.reading.lines
	line, long, err := lines.next()
	if err != nil {
		return false, err
	}
	it := &item{size: len(line)}
	switch {
	case long != nil:
		it.envelope = envelope{kind: refused, id: long.id, fault: invalidRequest(
			fmt.Sprintf("the line is longer than %d bytes", c.server.maxLine))}
	case skipSpace(line, 0) == len(line):
		return true, nil
	case c.server.sdkOnly || !glance(line, &it.envelope, &it.plain):
		it.envelope = parse(line)
	default:
		t := c.server.toolNamed(it.plain.name)
		it.overlaps = t != nil && t.Overlaps
	}
	switch {
	case it.kind == ignored || it.kind == response: // nothing was asked
	case it.kind == notification && it.method == noteCancelled:
		c.in.cancel(it.cancels())
	case it.kind == request && it.method == methodPing:
		// A ping asks whether anybody is there, not whether the queue is short.
		if reply := c.ask(it, func(func()) {}); reply != nil {
			_ = c.out.put(reply) // if that fails, answerAll hears of it
			c.out.flush()
		}
	case it.plain.ok && c.reading.slow.Load() < stubborn && c.in.take(it):
		if !c.answerHere(it) {
			return false, errRelieved
		}
	case !c.in.put(it):
		return false, nil
	case lines.r.Buffered() == 0:
		// The read that follows may block the thread, and it takes the
		// scheduler a while to see that others could run.
		runtime.Gosched()
	}
	return true, nil
}

// took hears how long a plain call took.
func (r *reading) took(d time.Duration) {
	switch {
	case d > quick:
		r.slow.Add(1)
	case r.slow.Load() > 0:
		r.slow.Store(0)
	}
}

// answerHere answers a call that has nothing before it. It reports whether the
// caller still has the duty to read.
func (c *stdio) answerHere(it *item) bool {
	r := c.reading
	r.calls++
	n := r.calls
	r.call.Store(n)
	if !r.watched.Swap(true) {
		r.timer.Reset(relief)
	}
	it.room, r.room = r.room[:0], nil
	reply := c.answer(it)
	mine := r.call.CompareAndSwap(n, 0)
	waiting := c.in.settle(it, reply, c.out.put)
	if mine && cap(reply) <= maxSpare {
		r.room = reply // which was given out, since nothing else was read meanwhile
	}
	if waiting || mine && r.lines.ready() {
		c.out.soon()
	} else {
		c.out.flush()
	}
	return mine
}

// relieve has somebody else read if the reader has been at the same call since it
// last looked.
func (c *stdio) relieve() {
	r := c.reading
	r.watched.Store(false) // first, so that a call that begins now sees it
	n := r.call.Load()
	if n == 0 {
		return
	}
	if r.seen.Swap(n) == n && r.call.CompareAndSwap(n, 0) {
		go c.read()
		return
	}
	if !r.watched.Swap(true) {
		r.timer.Reset(relief)
	}
}

// ready reports whether the next line is here.
func (l *lineReader) ready() bool {
	b, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(b, '\n') >= 0
}

func newReading(in io.Reader, maxLine int, done chan<- error, relieve func()) *reading {
	r := &reading{lines: lineReader{r: bufio.NewReaderSize(in, 64<<10), max: maxLine}, done: done}
	r.timer = time.AfterFunc(time.Hour, relieve)
	r.timer.Stop()
	return r
}

package mcpserver

import (
	"errors"
	"sync"
	"time"
)

const (
	// maxUnwritten is the number of unwritten bytes at which the next reply waits, for a
	// client that does not read.
	maxUnwritten = 256 << 10
	// maxSpare is the maximum size of a buffer that is kept for reuse.
	maxSpare = 1 << 20
)

var errConnClosed = errors.New("mcpserver: the connection is closed")

// An output writes lines. Those that come while it writes are written together.
type output struct {
	write  func(lines []byte) error
	failed func() // called after a write has failed

	mu      sync.Mutex
	change  *sync.Cond // what follows has changed
	buf     []byte     // to be written; whole lines
	spare   []byte     // memory of what was written
	writing bool       // a goroutine writes buf
	err     error      // the first failure, after which lines are dropped
}

func newOutput(write func([]byte) error, failed func()) *output {
	o := &output{write: write, failed: failed}
	o.change = sync.NewCond(&o.mu)
	return o
}

// put adds a line, which another goroutine writes, or, if now, the caller: waking a goroutine costs more than
// writing. It waits while the buffer is full.
func (o *output) put(line []byte, now bool) {
	o.mu.Lock()
	for o.err == nil && len(o.buf) > maxUnwritten {
		o.change.Wait()
	}
	idle := o.err == nil && !o.writing
	if o.err == nil {
		o.buf, o.writing = append(o.buf, line...), true
	}
	o.mu.Unlock()
	switch {
	case idle && now:
		o.flush()
	case idle:
		go o.flush()
	}
}

// flush writes until nothing is left, or until writing fails.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && len(o.buf) > 0 {
		text := o.buf
		o.buf, o.spare = o.spare[:0], nil
		o.change.Broadcast()
		o.mu.Unlock()
		err := o.write(text)
		o.mu.Lock()
		if cap(text) <= maxSpare {
			o.spare = text
		}
		if err != nil && o.err == nil {
			o.err = err
			go o.failed()
		}
	}
	o.writing = false
	o.change.Broadcast()
}

// drain returns when everything is written, or after a failure.
func (o *output) drain() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.writing {
		o.change.Wait()
	}
	return o.err
}

// close drops what is not written, and lines that follow.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = errConnClosed
	}
	o.change.Broadcast()
}

// Limits for reading ahead of answering. Reading ahead lets a cancellation overtake
// earlier calls. Beyond these limits, the client waits.
const (
	maxAhead      = 1000
	maxAheadBytes = 64 << 20
)

// A queue has the calls that were read and are not answered.
type queue struct {
	mu      sync.Mutex
	change  *sync.Cond     // what follows has changed
	waiting []*pendingCall // in the order of arrival
	open    int            // calls that are not answered; those in lanes do not wait here
	bytes   int            // of these calls
	closed  bool           // no more calls are accepted

	taken  *pendingCall // answered by the goroutine that read it; the next one waits for it
	moved  bool         // another goroutine reads on meanwhile
	readOn func()       // reads, in that goroutine
	timer  *time.Timer  // calls watch
	armed  bool         // the timer runs
	seen   *pendingCall // taken when the timer ran last
}

func newQueue(readOn func()) *queue {
	q := &queue{readOn: readOn}
	q.change = sync.NewCond(&q.mu)
	q.timer = time.AfterFunc(time.Hour, q.watch)
	q.timer.Stop()
	return q
}

// put adds a call. It waits while the queue is full, and returns false if it is closed.
func (q *queue) put(c *pendingCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && (q.open > maxAhead || q.open > 0 && q.bytes+c.size > maxAheadBytes) {
		q.change.Wait()
	}
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, c)
	q.open++
	q.bytes += c.size
	q.change.Broadcast()
	return true
}

// take accepts a call that the caller, who reads, answers at once, unless others are open. The
// caller calls pass afterwards.
func (q *queue) take(c *pendingCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.open > 0 || q.taken != nil {
		return false
	}
	q.taken, q.open, q.bytes = c, 1, c.size
	if !q.armed { // a timer that runs is left alone: to set one for each call wakes a thread
		q.armed = true
		q.timer.Reset(inlineLimit)
	}
	return true
}

// pass lets the calls be answered that came after the one that was taken. It reports whether the
// caller reads on.
func (q *queue) pass() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	reading := !q.moved
	q.taken, q.moved = nil, false
	q.change.Broadcast()
	return reading
}

// watch reads on if a call is taken that was taken when the timer ran last.
func (q *queue) watch() {
	q.mu.Lock()
	move := q.taken != nil && q.taken == q.seen
	q.moved = q.moved || move
	q.armed = q.taken != nil && !q.moved
	q.seen = q.taken
	if q.armed {
		q.timer.Reset(inlineLimit)
	} else {
		q.seen = nil
	}
	q.mu.Unlock()
	if move {
		q.readOn()
	}
}

// next returns the next call, or nil when the queue is closed and empty.
func (q *queue) next() *pendingCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.taken != nil || !q.closed && len(q.waiting) == 0 {
		q.change.Wait()
	}
	if len(q.waiting) == 0 {
		return nil
	}
	c := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	return c
}

// empty reports whether no call waits.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) == 0
}

// done ends a call that was answered.
func (q *queue) done(c *pendingCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open--
	q.bytes -= c.size
	q.change.Broadcast()
}

// close refuses further calls. Those in the queue are still answered.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}

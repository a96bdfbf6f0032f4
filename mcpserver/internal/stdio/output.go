package stdio

import (
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// Gather is how long a reply may wait to be written together with others, while calls
	// are being answered.
	Gather = time.Millisecond
	// gatherLimit is the number of bytes that are written without waiting for more.
	gatherLimit = 64 << 10
	// MaxUnwritten is the number of unwritten bytes at which the next reply waits, for a
	// client that does not read.
	MaxUnwritten = 4 << 20
	// maxSpare is the maximum size of a buffer that is kept for reuse.
	maxSpare = 1 << 20
)

// ErrStalled is the error for a client that stops reading while the server is ending.
var ErrStalled = errors.New("mcpserver: the client has stopped reading")

var errClosed = errors.New("mcpserver: the connection is closed")

// An output writes lines, several at once if they follow each other quickly. It has no
// goroutine: the caller that flushes also writes the lines that others add meanwhile. So
// a single reply needs no other goroutine.
type output struct {
	w      io.Writer
	max    int    // unwritten bytes at which the next reply waits
	failed func() // called once after a failure, without locks

	stalled chan struct{} // closed when a write takes longer than writeTimeout

	mu           sync.Mutex
	change       *sync.Cond // err, buf or writing have changed
	buf          []byte     // to be written; whole lines
	spare        []byte     // replaces buf while that is being written
	writing      bool
	writes       int           // number of writes, with the current one
	err          error         // the first failure
	timer        *time.Timer   // flushes, Gather after the first of several replies
	armed        bool          // the timer runs
	writeTimeout time.Duration // of one write; 0 means none
}

func newOutput(w io.Writer, failed func()) *output {
	o := &output{w: w, max: MaxUnwritten, failed: failed, stalled: make(chan struct{})}
	o.change = sync.NewCond(&o.mu)
	return o
}

// put adds lines to the buffer. It waits while the buffer is full.
func (o *output) put(lines []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.writing && len(o.buf) > o.max {
		o.change.Wait()
	}
	if o.err != nil {
		return o.err
	}
	o.buf = append(o.buf, lines...)
	return nil
}

// Offer adds a line that is written within Gather. It returns false and drops the line if
// put would wait.
func (o *output) Offer(line []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || len(o.buf) > o.max {
		return false
	}
	o.buf = append(o.buf, line...)
	o.start()
	return true
}

// Put adds a line that is written with the next reply.
func (o *output) Put(line []byte) {
	_ = o.put(line) // if that fails, the connection ends
}

// soon makes sure that the buffer is written within Gather.
func (o *output) soon() {
	if o.arm() {
		o.flush()
	}
}

// arm starts the timer, or reports that the buffer must be written now.
func (o *output) arm() (now bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.buf) >= gatherLimit {
		return true
	}
	o.start()
	return false
}

// start starts the timer unless it runs. The caller holds mu.
func (o *output) start() {
	switch {
	case o.armed || o.err != nil || len(o.buf) == 0:
		return
	case o.timer == nil:
		o.timer = time.AfterFunc(Gather, func() {
			o.mu.Lock()
			o.armed = false
			o.mu.Unlock()
			o.flush()
		})
	default:
		o.timer.Reset(Gather)
	}
	o.armed = true
}

// flush writes the buffer, unless another goroutine is writing, which then writes it too.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.writing && o.err == nil && len(o.buf) > 0 {
		out := o.buf
		o.buf, o.spare = o.spare[:0], nil
		o.writing = true
		o.writes++
		o.watch()
		o.mu.Unlock()
		_, err := o.w.Write(out)
		o.mu.Lock()
		o.writing = false
		if cap(out) <= maxSpare {
			o.spare = out
		}
		if err != nil {
			o.fail(err)
		}
		o.change.Broadcast()
	}
}

// drain returns when the buffer is written, or after a failure.
func (o *output) drain() error {
	o.flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && (o.writing || len(o.buf) > 0) {
		o.change.Wait()
	}
	return o.err
}

// limit limits the time of each write from now on, with the current one.
func (o *output) limit(timeout time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writeTimeout = timeout
	if o.writing {
		o.watch()
	}
}

// watch makes the output fail if the beginning write takes too long. The caller holds mu.
func (o *output) watch() {
	if o.writeTimeout == 0 {
		return
	}
	n := o.writes
	time.AfterFunc(o.writeTimeout, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.writing && o.writes == n && o.err == nil {
			o.fail(ErrStalled)
			close(o.stalled)
		}
	})
}

// close makes put fail. The buffer is discarded.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(errClosed)
	if o.timer != nil {
		o.timer.Stop()
	}
}

// fail records the first failure. The caller holds mu.
func (o *output) fail(err error) {
	if o.err != nil {
		return
	}
	o.err = err
	o.buf = nil
	o.change.Broadcast()
	if !errors.Is(err, errClosed) {
		go o.failed()
	}
}

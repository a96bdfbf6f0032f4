package mcpserver

import (
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// gather is how long a reply may wait for others to be written with it while
	// there is more to answer.
	gather = time.Millisecond
	// plenty is how much is written without waiting for more.
	plenty = 64 << 10
	// maxUnwritten is how much may wait for a client that does not read before
	// the next reply waits for it too.
	maxUnwritten = 4 << 20
	// maxSpare is how large a buffer is kept for its next use.
	maxSpare = 1 << 20
)

var (
	errStalled = errors.New("mcpserver: the client has stopped reading")
	errClosed  = errors.New("mcpserver: the connection is closed")
)

// An outbox writes replies, several at once where they come quickly. Nobody owns
// the writing: whoever flushes does it, and takes along what others add
// meanwhile, so that a lone reply changes hands no more than needed.
type outbox struct {
	w      io.Writer
	failed func() // called once, when nothing can be written any more; no locks held

	stalled chan struct{} // closed when a write takes too long

	mu       sync.Mutex
	change   *sync.Cond // err, buf or writing have changed
	buf      []byte     // to be written; whole lines
	spare    []byte     // for buf, while that is being written
	writing  bool
	writes   int           // so far, the current one included
	err      error         // the first failure
	timer    *time.Timer   // flushes, a while after the first of several replies
	armed    bool          // the timer runs
	patience time.Duration // for one write; 0 means any
}

func newOutbox(w io.Writer, failed func()) *outbox {
	o := &outbox{w: w, failed: failed, stalled: make(chan struct{})}
	o.change = sync.NewCond(&o.mu)
	return o
}

// put adds lines to what is to be written. It waits while too much is.
func (o *outbox) put(lines []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.writing && len(o.buf) > maxUnwritten {
		o.change.Wait()
	}
	if o.err != nil {
		return o.err
	}
	o.buf = append(o.buf, lines...)
	return nil
}

// offer has a line written before long, or drops it where put would wait.
func (o *outbox) offer(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || len(o.buf) > maxUnwritten {
		return
	}
	o.buf = append(o.buf, line...)
	o.start()
}

// soon has what was put written before long.
func (o *outbox) soon() {
	if o.arm() {
		o.flush()
	}
}

// arm starts the timer, or reports that there is no point in waiting.
func (o *outbox) arm() (now bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.buf) >= plenty {
		return true
	}
	o.start()
	return false
}

// start starts the timer unless it runs. The caller holds mu.
func (o *outbox) start() {
	switch {
	case o.armed || o.err != nil || len(o.buf) == 0:
		return
	case o.timer == nil:
		o.timer = time.AfterFunc(gather, func() {
			o.mu.Lock()
			o.armed = false
			o.mu.Unlock()
			o.flush()
		})
	default:
		o.timer.Reset(gather)
	}
	o.armed = true
}

// flush writes what was put, unless someone is already writing, who then takes
// it along.
func (o *outbox) flush() {
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

// drain returns when everything has been written, or cannot be.
func (o *outbox) drain() error {
	o.flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && (o.writing || len(o.buf) > 0) {
		o.change.Wait()
	}
	return o.err
}

// hurry bounds the time of each write from now on, of one under way too.
func (o *outbox) hurry(patience time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.patience = patience
	if o.writing {
		o.watch()
	}
}

// watch fails the outbox if the write that begins takes too long. The caller
// holds mu.
func (o *outbox) watch() {
	if o.patience == 0 {
		return
	}
	n := o.writes
	time.AfterFunc(o.patience, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.writing && o.writes == n && o.err == nil {
			o.fail(errStalled)
			close(o.stalled)
		}
	})
}

// close makes the outbox refuse what comes late. What it holds is lost.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(errClosed)
	if o.timer != nil {
		o.timer.Stop()
	}
}

// fail records the first failure. The caller holds mu.
func (o *outbox) fail(err error) {
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

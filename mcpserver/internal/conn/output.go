package conn

import (
	"errors"
	"sync"
)

const (
	// maxUnwritten is the number of unwritten bytes at which the next reply waits, for a
	// client that does not read.
	maxUnwritten = 256 << 10
	// maxSpare is the maximum size of a buffer that is kept for reuse.
	maxSpare = 1 << 20
)

var errClosed = errors.New("mcpserver: the connection is closed")

// An output writes lines, in a goroutine of its own: those that come while it writes are
// written together.
type output struct {
	write func(lines []byte) error

	mu     sync.Mutex
	change *sync.Cond // what follows has changed
	buf    []byte     // to be written; whole lines
	idle   bool       // nothing is being written
	err    error      // the first failure
}

func newOutput(write func([]byte) error) *output {
	o := &output{write: write}
	o.change = sync.NewCond(&o.mu)
	return o
}

// put adds a line. It waits while the buffer is full, and drops the line after a failure.
func (o *output) put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && len(o.buf) > maxUnwritten {
		o.change.Wait()
	}
	if o.err == nil {
		o.buf = append(o.buf, line...)
		o.change.Broadcast()
	}
}

// run writes until close, or until it fails. It then calls failed.
func (o *output) run(failed func()) {
	var spare []byte
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil {
		if len(o.buf) == 0 {
			o.idle = true
			o.change.Broadcast()
			o.change.Wait()
			continue
		}
		text := o.buf
		o.buf, o.idle = spare[:0], false
		o.change.Broadcast()
		o.mu.Unlock()
		err := o.write(text)
		o.mu.Lock()
		if spare = nil; cap(text) <= maxSpare {
			spare = text
		}
		if err != nil && o.err == nil {
			o.err = err
			o.change.Broadcast()
			go failed()
		}
	}
}

// drain returns when everything is written, or after a failure.
func (o *output) drain() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && (len(o.buf) > 0 || !o.idle) {
		o.change.Wait()
	}
	return o.err
}

// close ends run. What is not written is dropped.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = errClosed
	}
	o.change.Broadcast()
}

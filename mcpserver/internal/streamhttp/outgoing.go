package streamhttp

import (
	"sync"

	"github.com/sequent-dev/sequent/internal/governor"
)

// How much may wait for a client that does not read its stream.
const (
	maxQueued      = 500
	maxQueuedBytes = 2 << 20
)

// An outgoing queue has what a client is told before the reply to its request. It
// does not block: an offered line for which there is no room is dropped. Its memory is
// the client's BytesOut.
type outgoing struct {
	client *governor.Subject
	wake   chan struct{} // has room for one; filled when there is something to take

	mu      sync.Mutex
	queue   [][]byte // lines
	size    int      // of queue, in bytes
	held    int      // bytes of queue that are the client's BytesOut
	writing int      // held, of the lines that were taken last
}

func newOutgoing(client *governor.Subject) *outgoing {
	return &outgoing{client: client, wake: make(chan struct{}, 1)}
}

// Offer adds a line. It returns false if there is no room for it.
func (o *outgoing) Offer(line []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) >= maxQueued || o.size+len(line) > maxQueuedBytes ||
		o.client.Take(governor.BytesOut, int64(len(line))) != nil {
		return false
	}
	o.held += len(line)
	o.add(line)
	return true
}

// Put adds a line even if there is no room for it: the last one of a text, which its
// caller has kept in memory anyway.
func (o *outgoing) Put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.client.Take(governor.BytesOut, int64(len(line))) == nil {
		o.held += len(line)
	}
	o.add(line)
}

// add adds a line. The caller holds mu.
func (o *outgoing) add(line []byte) {
	o.queue = append(o.queue, line)
	o.size += len(line)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take returns what was offered since it was called last. The lines are valid until
// the next call.
func (o *outgoing) take() (lines [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing > 0 {
		o.client.Give(governor.BytesOut, int64(o.writing))
	}
	lines, o.writing = o.queue, o.held
	o.queue, o.size, o.held = nil, 0, 0
	return lines
}

// close drops what was not taken.
func (o *outgoing) close() {
	o.take()
	o.take()
}

package streamhttp

import "sync"

// How much may wait for a client that does not read its stream.
const (
	maxQueued      = 500
	maxQueuedBytes = 2 << 20
)

// An outgoing queue has what a client is told before the reply to its request. It
// never makes anybody wait: what there is no room for is dropped.
type outgoing struct {
	wake chan struct{} // has room for one; filled when there is something to take

	mu    sync.Mutex
	queue [][]byte // lines
	size  int      // of queue
}

func newOutgoing() *outgoing { return &outgoing{wake: make(chan struct{}, 1)} }

// Offer adds a line, or drops it.
func (o *outgoing) Offer(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) >= maxQueued || o.size+len(line) > maxQueuedBytes {
		return
	}
	o.queue = append(o.queue, line)
	o.size += len(line)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take returns what was offered since it was called last.
func (o *outgoing) take() (lines [][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines, o.queue, o.size = o.queue, nil, 0
	return lines
}

package mcpserver

import "sync"

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
}

func newQueue() *queue {
	q := new(queue)
	q.change = sync.NewCond(&q.mu)
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

// next returns the next call, or nil when the queue is closed and empty.
func (q *queue) next() *pendingCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.waiting) == 0 {
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

package mcpserver

import "sync"

// Limits for reading ahead of answering. Reading ahead lets a cancellation overtake
// earlier calls. Beyond these limits, the client waits.
const (
	maxAhead      = 10_000
	maxAheadBytes = 64 << 20
)

// A queue has the calls that were read and are not answered. Those of the connection's own
// lane wait in own; the others have a lane each, whose first call is being answered.
type queue struct {
	mu     sync.Mutex
	change *sync.Cond // what follows has changed
	own    []*pendingCall
	lanes  map[string][]*pendingCall
	open   int  // calls that are not answered
	bytes  int  // of these calls
	closed bool // no more calls are accepted
}

func newQueue() *queue {
	q := &queue{lanes: make(map[string][]*pendingCall)}
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
	q.own = append(q.own, c)
	q.open++
	q.bytes += c.size
	q.change.Broadcast()
	return true
}

// next returns the next call of the connection's own lane, or nil when the queue is closed
// and empty.
func (q *queue) next() *pendingCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.own) == 0 {
		q.change.Wait()
	}
	if len(q.own) == 0 {
		return nil
	}
	c := q.own[0]
	q.own[0] = nil
	q.own = q.own[1:]
	return c
}

// waiting reports whether a call waits in the connection's own lane.
func (q *queue) waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.own) > 0
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

// enter adds a call to a lane. It reports whether the caller must start a goroutine that
// answers the lane.
func (q *queue) enter(lane string, c *pendingCall) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes[lane] = append(q.lanes[lane], c)
	return len(q.lanes[lane]) == 1
}

// leave removes the first call of a lane, which is answered. It returns the next call, or
// nil.
func (q *queue) leave(lane string) *pendingCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	rest := q.lanes[lane][1:]
	if len(rest) == 0 {
		delete(q.lanes, lane)
		return nil
	}
	q.lanes[lane] = rest
	return rest[0]
}

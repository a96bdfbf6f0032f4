package stdio

import (
	"sync"

	"github.com/sequent-dev/sequent/mcpserver/internal/session"
)

// Limits for reading ahead of answering. Reading ahead lets a cancellation overtake
// earlier calls. Beyond these limits, the client waits.
const (
	MaxAhead      = 10_000
	maxAheadBytes = 64 << 20
)

// Limits for what runs beside the connection's own lane.
const (
	maxBeside    = 256 // calls of other lanes
	maxListening = 100 // open subscriptions
)

// A queue has the calls that were read and are not answered. The goroutine that has taken
// the queue answers the calls of the connection's own lane, one after the other. It moves
// a call for another lane there.
type queue struct {
	mu     sync.Mutex
	room   *sync.Cond // there may be room, or the queue is closed
	own    []*session.Call
	lanes  map[string][]*session.Call // the first call of each is being answered
	open   int                        // calls that are not answered
	bytes  int                        // of these calls
	taken  bool                       // a goroutine answers the connection's own lane
	closed bool                       // no more calls are accepted
	over   chan struct{}              // closed when closed is set and no call is open
}

func newQueue() *queue {
	q := &queue{lanes: make(map[string][]*session.Call), over: make(chan struct{})}
	q.room = sync.NewCond(&q.mu)
	return q
}

// take takes the queue for a call, if the connection's own lane is empty. Otherwise it
// returns false.
func (q *queue) take(c *session.Call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken || q.closed {
		return false
	}
	q.taken = true
	q.add(c)
	return true
}

// put adds a call. It waits while the queue is full. It returns ok false if the queue is
// closed. If taken is true, put has taken the queue, and the caller must start a
// goroutine that answers it.
func (q *queue) put(c *session.Call) (ok, taken bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && (q.open > MaxAhead || q.open > 0 && q.bytes+c.Size > maxAheadBytes) {
		q.room.Wait()
	}
	if q.closed {
		return false, false
	}
	q.own = append(q.own, c)
	q.add(c)
	taken = !q.taken
	q.taken = true
	return true, taken
}

// add counts a call. The caller holds mu.
func (q *queue) add(c *session.Call) {
	q.open++
	q.bytes += c.Size
}

// next returns the next call of the connection's own lane, for the goroutine that has
// taken the queue. If there is none, it returns nil and gives the queue back.
func (q *queue) next() *session.Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.own) == 0 {
		q.taken = false
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
func (q *queue) done(c *session.Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open--
	q.bytes -= c.Size
	q.room.Signal()
	q.check()
}

// check closes over if the queue has ended. The caller holds mu.
func (q *queue) check() {
	if q.closed && q.open == 0 {
		select {
		case <-q.over:
		default:
			close(q.over)
		}
	}
}

// close refuses further calls. Those in the queue are still answered.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.room.Broadcast()
	q.check()
}

// enter adds a call to a lane. It reports whether the caller must start a goroutine that
// answers the lane.
func (q *queue) enter(lane string, c *session.Call) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes[lane] = append(q.lanes[lane], c)
	return len(q.lanes[lane]) == 1
}

// leave removes the first call of a lane, which is answered. It returns the next call, or
// nil.
func (q *queue) leave(lane string) *session.Call {
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

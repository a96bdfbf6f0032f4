package stdio

import (
	"sync"

	"github.com/sequent-dev/sequent/mcpserver/internal/session"
)

// How far reading may run ahead of answering. Reading ahead is what lets a
// cancellation overtake the calls before it; beyond this, the client waits.
const (
	MaxAhead      = 10_000
	maxAheadBytes = 64 << 20
)

// maxBeside is how many calls of lanes of their own are answered at a time.
const maxBeside = 256

// A queue has the calls that were read and are not answered yet. Those of the
// connection's own lane are answered one after the other, by the goroutine that
// has taken the queue; a call for another lane moves there when its turn comes.
type queue struct {
	mu     sync.Mutex
	room   *sync.Cond // there may be room for more, or the queue is closed
	own    []*session.Call
	lanes  map[string][]*session.Call // the first of each is being answered
	open   int                        // calls that are not answered yet
	bytes  int                        // of these
	taken  bool                       // a goroutine answers the connection's own lane
	closed bool                       // nothing more is accepted
	over   chan struct{}              // closed when closed is set and nothing is open
}

func newQueue() *queue {
	q := &queue{lanes: make(map[string][]*session.Call), over: make(chan struct{})}
	q.room = sync.NewCond(&q.mu)
	return q
}

// take takes the queue for a call that has nothing before it in the connection's
// own lane. It reports false if the call would have to wait.
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

// put adds a call. It waits while there is too much. It reports false once the
// queue is closed, and whether the caller has to see to it that a goroutine
// answers the queue, which it has taken for that.
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

// next returns the next call of the connection's own lane, to the goroutine that
// has taken the queue. If there is none it returns nil, and the queue is not
// taken any more.
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

// done says that a call is answered.
func (q *queue) done(c *session.Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open--
	q.bytes -= c.Size
	q.room.Signal()
	q.check()
}

// check closes over when it is time. The caller holds mu.
func (q *queue) check() {
	if q.closed && q.open == 0 {
		select {
		case <-q.over:
		default:
			close(q.over)
		}
	}
}

// close makes the queue accept nothing more. What it has is still answered.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.room.Broadcast()
	q.check()
}

// enter puts a call into a lane. It reports whether the caller has to see to it
// that a goroutine answers that lane.
func (q *queue) enter(lane string, c *session.Call) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes[lane] = append(q.lanes[lane], c)
	return len(q.lanes[lane]) == 1
}

// leave removes the first call of a lane, which is answered, and returns the next;
// nil if there is none.
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

package sequent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A verb says what a change expects to find.
type verb int

const (
	update verb = iota // a session
	begin              // none
	ensure             // either
)

// A job is a call of Begin, Update or Ensure that waits for its commit.
type job struct {
	ctx    context.Context
	key    Key
	verb   verb
	change func(*Change) error

	wake  chan struct{} // tells a waiting job that it is done or leads; nil for a job that leads at once
	leads bool          // guarded by queue.mu
	done  bool          // set before wake

	result   *Session
	err      error
	panicked any // what the change function panicked with
}

// A queue has the jobs that wait for a commit. The first of several concurrent
// callers commits for all of them, so that many changes share one transaction
// and one fsync. See decision 0080.
type queue struct {
	mu      sync.Mutex
	waiting []*job
	led     bool // a job is committing a batch

	lastBatch int           // number of jobs in the last batch
	lastTime  time.Duration // that its commit took
}

// maxBatch bounds the jobs of one commit. More only make it longer.
const maxBatch = 256

// errRetry marks a job without a result: its session has expired in the batch,
// so that it is applied again, or its change function panicked.
var errRetry = errors.New("sequent: apply again")

// apply passes a change through the queue and returns what became of it.
func (e *Engine) apply(ctx context.Context, id ID, v verb, change func(*Change) error) (*Session, error) {
	k, err := e.key(id)
	if err != nil {
		return nil, err
	}
	if change == nil {
		return nil, &Error{Code: CodeInternal, Msg: "the change function is nil"}
	}
	if err := ctx.Err(); err != nil {
		return nil, canceled(err)
	}
	// Read the session before the job is queued, so that no other job waits for
	// the read.
	if e.cache.get(k) == nil && v != begin {
		if _, err := e.load(ctx, k); err != nil && (v == update || !errors.Is(err, ErrNotFound)) {
			return nil, err
		}
	}
	j := &job{ctx: ctx, key: k, verb: v, change: change}
	e.submit(j)
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.result, j.err
}

// submit queues a job and returns when it is done.
func (c *core) submit(j *job) {
	q := &c.queue
	q.mu.Lock()
	q.waiting = append(q.waiting, j)
	leads := !q.led
	q.led = true
	if !leads {
		j.wake = make(chan struct{}, 1)
	}
	q.mu.Unlock()
	if !leads {
		select {
		case <-j.wake:
		case <-j.ctx.Done():
			if q.withdraw(j) {
				j.err = canceled(j.ctx.Err())
				return
			}
			<-j.wake
		}
		if j.done {
			return
		}
	}
	c.lead(j)
}

// lead commits one batch, whose first job is self, and passes the lead to the
// first job that waits after that. Jobs of the batch that must be applied again
// are, before any later ones.
func (c *core) lead(self *job) {
	q := &c.queue
	q.mu.Lock()
	if wait := q.batchWait(); wait > 0 {
		q.mu.Unlock()
		time.Sleep(wait)
		q.mu.Lock()
	}
	n := min(len(q.waiting), maxBatch)
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.mu.Unlock()

	start := time.Now()
	for rest := batch; len(rest) > 0; rest = retries(rest) {
		c.run(context.WithoutCancel(self.ctx), rest)
	}

	q.mu.Lock()
	q.lastBatch, q.lastTime = n, time.Since(start)
	if len(q.waiting) > 0 {
		next := q.waiting[0]
		next.leads = true
		next.wake <- struct{}{}
	} else {
		q.led = false
	}
	q.mu.Unlock()
	for _, j := range batch {
		if j != self {
			j.done = true
			j.wake <- struct{}{}
		}
	}
}

// batchWait returns how long to wait before a batch is taken. The callers of the
// last batch are about to submit their next jobs; without the wait, the first
// of them would get a commit for itself. There is none for a lone caller, nor
// where commits take less than 160 µs. The caller holds mu.
func (q *queue) batchWait() time.Duration {
	const minWait, maxWait = 20 * time.Microsecond, time.Millisecond
	wait := q.lastTime / 8
	if len(q.waiting) >= q.lastBatch || wait < minWait {
		return 0
	}
	return min(wait, maxWait)
}

// retries returns the jobs of a batch that must be applied again, in order.
func retries(batch []*job) (again []*job) {
	for _, j := range batch {
		if j.err == errRetry && j.panicked == nil {
			again = append(again, j)
		}
	}
	return again
}

// withdraw removes a job from the queue, unless it is being committed or leads.
func (q *queue) withdraw(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, j)
	if i < 0 || j.leads {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

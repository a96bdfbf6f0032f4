package sequent

import (
	"context"
	"errors"
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

	textless bool // change needs no texts of earlier thoughts

	lane lane          // that the job leads
	wake chan struct{} // tells a waiting job that it is done or leads; nil for a job that leads at once
	done bool          // set before wake

	result   *Session
	err      error
	panicked any // what the change function panicked with
}

var (
	// errRetry marks a job without a result: its session has expired in the batch,
	// so that it is applied again, or its change function panicked.
	errRetry = errors.New("sequent: apply again")

	// errSkipped marks a job whose write the store has skipped; see [Write.Try].
	errSkipped = errors.New("sequent: set aside")
)

// apply passes a change through the queue and returns what became of it.
func (e *Engine) apply(ctx context.Context, id ID, v verb, change func(*Change) error) (*Session, error) {
	k, err := e.key(id)
	if err != nil {
		return nil, err
	}
	leaveTrail(ctx, k, true)
	if change == nil {
		return nil, &Error{Code: CodeInternal, Msg: "the change function is nil"}
	}
	if err := ctx.Err(); err != nil {
		return nil, canceled(err)
	}
	// Read the session before the job is queued, so that no other job waits for
	// the read.
	if e.cached(k, e.textless) == nil && v != begin {
		if _, err := e.load(ctx, k, false); err != nil && (v == update || !errors.Is(err, ErrNotFound)) {
			return nil, err
		}
	}
	if _, err := e.meter.refresh(ctx, e.owner, false); err != nil {
		return nil, err
	}
	j := &job{ctx: ctx, key: k, verb: v, change: change, textless: e.textless}
	e.submit(j)
	if CodeOf(j.err) == CodeQuotaExceeded { // which must not be due to an old usage
		if newer, err := e.meter.refresh(ctx, e.owner, true); newer && err == nil {
			j = &job{ctx: ctx, key: k, verb: v, change: change, textless: e.textless}
			e.submit(j)
		}
		if CodeOf(j.err) == CodeQuotaExceeded {
			e.counted.quotaRefused.Add(1)
			e.meter.refused(ctx, e.owner)
		}
	}
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.result, j.err
}

// submit queues a job and returns when it is done.
func (c *core) submit(j *job) {
	q := &c.queue
	if !q.enter(j) {
		select {
		case <-j.wake:
		case <-j.ctx.Done():
			if q.withdraw(j) {
				j.err = canceled(j.ctx.Err())
				return
			}
			<-j.wake
		}
	}
	for !j.done {
		c.lead(j)
	}
}

// lead commits the batch of a lane. Jobs of the batch that must be applied again
// are, before any later ones. Jobs whose write was skipped move to a lane of their
// session; self may lead that one next.
func (c *core) lead(self *job) {
	q, l := &c.queue, &self.lane
	if !l.aside {
		q.take(self)
	}
	for rest := l.jobs; len(rest) > 0; rest = retries(rest) {
		c.run(context.WithoutCancel(self.ctx), rest, l.aside)
	}
	for _, j := range q.leave(l) {
		j.done = true
		if j != self {
			j.wake <- struct{}{}
		}
	}
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

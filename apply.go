package sequent

import (
	"context"
	"errors"
	"math/rand/v2"
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

// A job is one change on its way through the queue.
type job struct {
	ctx    context.Context
	key    Key
	verb   verb
	change func(*Change) error

	wake     chan struct{} // for a job that waits: it is done, or shall lead
	promoted bool          // it shall lead; guarded by queue.mu
	done     bool          // set before wake

	result   *Session
	err      error
	panicked any
}

// A queue lets the first of several concurrent callers commit for all of them,
// so that many changes share one transaction and one fsync, and a lone one
// waits for nobody.
type queue struct {
	mu      sync.Mutex
	waiting []*job
	leading bool // someone commits

	last int           // changes in the last batch
	took time.Duration // by its commit
}

// maxBatch bounds the changes of one commit: beyond it a commit only takes
// longer.
const maxBatch = 256

// errAgain asks lead to start over: what the change was made against is gone.
var errAgain = errors.New("sequent: start over")

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
	// Read what must be read before it is this change's turn, so that nobody
	// else waits for it.
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

// submit returns when the job is done.
func (c *core) submit(j *job) {
	q := &c.queue
	q.mu.Lock()
	q.waiting = append(q.waiting, j)
	leader := !q.leading
	q.leading = true
	if !leader {
		j.wake = make(chan struct{}, 1)
	}
	q.mu.Unlock()
	if !leader {
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

// lead commits one batch, self at its head, and hands the lead on. Changes that
// must start over do so before any that came later.
func (c *core) lead(self *job) {
	q := &c.queue
	q.mu.Lock()
	if wait := q.worthwhile(); wait > 0 {
		q.mu.Unlock()
		time.Sleep(wait)
		q.mu.Lock()
	}
	n := min(len(q.waiting), maxBatch)
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.mu.Unlock()

	begun := time.Now()
	for left := batch; len(left) > 0; left = unfinished(left) {
		c.run(context.WithoutCancel(self.ctx), left)
	}

	q.mu.Lock()
	q.last, q.took = n, time.Since(begun)
	if len(q.waiting) > 0 {
		next := q.waiting[0]
		next.promoted = true
		next.wake <- struct{}{}
	} else {
		q.leading = false
	}
	q.mu.Unlock()
	for _, j := range batch {
		if j != self {
			j.done = true
			j.wake <- struct{}{}
		}
	}
}

// worthwhile returns how long to wait for those whom the last commit served: they
// have their answers and are about to be back, and the first of them must not take
// a whole commit for itself. It is nothing for a lone caller, nor where commits
// are quick. The caller holds mu.
func (q *queue) worthwhile() time.Duration {
	const share, least = 8, 20 * time.Microsecond
	if wait := q.took / share; len(q.waiting) < q.last && wait >= least {
		return min(wait, time.Millisecond)
	}
	return 0
}

// unfinished returns the jobs that must start over, in order.
func unfinished(batch []*job) (left []*job) {
	for _, j := range batch {
		if j.err == errAgain && j.panicked == nil {
			left = append(left, j)
		}
	}
	return left
}

// withdraw takes a job out that is not yet being committed.
func (q *queue) withdraw(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, j)
	if i < 0 || j.promoted {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// A group is the jobs of one session in one batch.
type group struct {
	core   *core
	jobs   []*job
	base   *Session // as committed; Version 0 if there is no session
	head   *Session // with what the jobs have changed
	locked *ledger  // whose writing lock is held
	fresh  bool     // base was read from the store for this batch
	write  *Write   // nil if there is nothing to write
}

// run applies a batch of jobs and fills in their outcomes.
func (c *core) run(ctx context.Context, batch []*job) {
	groups := make([]*group, 0, 1)
	var at map[Key]*group // for more than one job
	if len(batch) > 1 {
		at = make(map[Key]*group, len(batch))
	}
	for i, j := range batch {
		if err := j.ctx.Err(); err != nil {
			j.err = canceled(err)
			continue
		}
		if g := at[j.key]; g != nil {
			g.jobs = append(g.jobs, j)
			continue
		}
		g := &group{core: c, jobs: batch[i : i+1 : i+1]}
		groups = append(groups, g)
		if at != nil {
			at[j.key] = g
		}
	}
	writes := make([]*Write, 0, len(groups))
	for i, g := range groups {
		if err := g.prepare(ctx); err != nil {
			g.finish(err)
			groups[i] = nil
		} else if g.write != nil {
			writes = append(writes, g.write)
		}
	}
	var err error
	if len(writes) > 0 {
		err = c.store.Commit(ctx, writes)
	}
	for _, g := range groups {
		if g != nil {
			g.finish(err)
		}
	}
}

// prepare finds the session and plans the group's write.
func (g *group) prepare(ctx context.Context) error {
	k := g.jobs[0].key
	if s := g.core.cache.get(k); s != nil {
		g.base = s
	} else if g.jobs[0].verb == begin {
		g.reset() // most likely; the store knows better
	} else if err := g.refresh(ctx, k); err != nil {
		return err
	}
	g.lock()
	if g.base.ledger.known() != g.base.Len() { // a reader has brought in more
		if err := g.refresh(ctx, k); err != nil {
			return err
		}
	}
	g.plan()
	if g.fresh || !g.refused() {
		return nil
	}
	// A refusal must not rest on what was true a while ago.
	old := g.base.Position()
	if err := g.refresh(ctx, k); err != nil {
		return err
	}
	if g.base.Position() != old {
		g.plan()
	}
	return nil
}

// refresh brings the group to what the store has now.
func (g *group) refresh(ctx context.Context, k Key) error {
	g.fresh = true
	var have Position
	if g.base != nil {
		have = g.base.Position()
	}
	h, tail, err := g.core.store.Load(ctx, k, have)
	if err == nil && h.Expired(g.core.now()) {
		err = g.core.store.Delete(ctx, k, h.Epoch)
		if err == nil {
			err = ErrNotFound
		}
	}
	if errors.Is(err, ErrNotFound) {
		if g.base == nil || g.base.Version() > 0 { // else what is planned stays
			g.reset()
		}
		return nil
	}
	if err != nil {
		return err
	}
	if g.base != nil && h.Position() == have {
		return nil // and what is planned stays
	}
	g.rebase(h, tail)
	return nil
}

// rebase puts the group on another committed state.
func (g *group) rebase(h Header, tail []Thought) {
	var l *ledger
	if g.base == nil || h.Epoch != g.base.Epoch() {
		l = restore(h.Epoch, tail)
	} else {
		l = g.base.ledger
		l.truncate(0)
		l.extend(tail)
	}
	g.base = snapshot(h, l)
	g.lock()
}

// reset puts the group on no session at all.
func (g *group) reset() {
	g.base = snapshot(Header{}, newLedger(1+rand.Int64N(1<<53-1)))
	g.lock()
}

// lock makes the group the only one to change its ledger, until finish.
func (g *group) lock() {
	l := g.base.ledger
	if g.locked == l {
		return
	}
	g.unlock()
	l.writing.Lock()
	g.locked = l
}

func (g *group) unlock() {
	if g.locked != nil {
		g.locked.writing.Unlock()
		g.locked = nil
	}
}

// plan applies the group's changes, in order, to its base.
func (g *group) plan() {
	c, l := g.core, g.base.ledger
	l.truncate(0)
	g.write = nil
	head := g.base
	now := precise(c.now())
	for _, j := range g.jobs {
		exists := head.Version() > 0
		j.result, j.err, j.panicked = nil, nil, nil
		switch {
		case exists && head.Expired(now):
			j.err = errAgain
			continue
		case exists && j.verb == begin:
			j.err = &Error{
				Code: CodeSessionExists, Field: "sessionId",
				Msg: "there is a session with that id already",
				Fix: "use another id, or continue that session",
			}
			continue
		case !exists && j.verb == update:
			j.err = notFound(j.key.ID)
			continue
		}
		change := &Change{limits: c.limits, now: now, ledger: l, session: head, shared: true}
		if !exists {
			change.write().header = Header{Key: j.key, Epoch: l.epoch, State: Active, Created: now}
		}
		j.run(change)
		s := change.end(c.ttl)
		if j.err != nil {
			l.truncate(head.Len())
			continue
		}
		head, j.result = s, s
	}
	g.head = head
	if head.Version() == g.base.Version() {
		return
	}
	g.write = &Write{
		Base:     g.base.Position(),
		Header:   head.header,
		Thoughts: l.since(g.base.Len()),
		Rebase:   g.replan,
		log:      l.log,
	}
}

// replan is the group's [Write.Rebase].
func (g *group) replan(now Header, exists bool, tail []Thought) bool {
	w := g.write
	if exists {
		g.rebase(now, tail)
	} else {
		g.reset()
	}
	g.fresh = true
	g.plan()
	if g.write == nil {
		return false
	}
	*w = *g.write // the store holds on to w
	g.write = w
	return true
}

// run applies the change. A panic in it is kept for the caller it belongs to.
func (j *job) run(c *Change) {
	defer func() {
		if p := recover(); p != nil {
			j.panicked, j.err = p, errAgain
		}
	}()
	j.err = j.change(c)
}

// refused reports whether a change of the group was refused.
func (g *group) refused() bool {
	return slices.ContainsFunc(g.jobs, func(j *job) bool { return j.err != nil })
}

// fail gives an error to the jobs that have no answer of their own: those that
// succeeded so far, and those that would start over and meet the same error.
func (g *group) fail(err error) {
	for _, j := range g.jobs {
		if j.err == nil || j.err == errAgain {
			j.result, j.err = nil, err
		}
	}
}

// finish makes the outcome known: the ledger holds what is committed, and the
// cache knows about it.
func (g *group) finish(err error) {
	defer g.unlock()
	if g.write != nil && err == nil {
		err = g.write.Err
	}
	switch {
	case err != nil:
		g.fail(err)
		if g.base != nil {
			g.base.ledger.truncate(0)
		}
		g.core.cache.remove(g.jobs[0].key)
	case g.write != nil:
		g.base.ledger.commit()
		g.core.cache.put(g.head)
	case g.base.Version() > 0:
		g.core.cache.put(g.base)
	}
}

// load returns a session as the store has it now, by way of the cache.
func (c *core) load(ctx context.Context, k Key) (*Session, error) {
	for {
		s := c.cache.get(k)
		var have Position
		if s != nil {
			have = s.Position()
		}
		h, tail, err := c.store.Load(ctx, k, have)
		if err != nil {
			if errors.Is(err, ErrNotFound) {
				c.cache.remove(k)
			}
			return nil, err
		}
		switch {
		case s == nil || s.Epoch() != h.Epoch:
			s = snapshot(h, restore(h.Epoch, tail))
		case h.Position() != have:
			// Another goroutine may be committing; then the ledger has thoughts
			// that are not yet in the store. They are gone or committed afterwards.
			l := s.ledger
			l.writing.Lock()
			whole := l.extend(tail)
			l.writing.Unlock()
			if !whole {
				continue
			}
			s = snapshot(h, l)
		}
		c.cache.put(s)
		return s, nil
	}
}

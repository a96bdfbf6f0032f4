package sequent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
)

// A group is the jobs of one session in one batch.
type group struct {
	core     *core
	jobs     []*job
	base     *Session // as committed; its Version is 0 if there is no session
	head     *Session // base with the changes of the jobs
	locked   *ledger  // whose writing lock the group holds
	fresh    bool     // base was read from the store for this batch
	reserved growth   // of the owner's quota, for write
	write    *Write   // from base to head; nil if they are the same
	aside    bool     // the write may wait for its session
}

// run applies and commits a batch of jobs and sets their results. Aside says that
// the store has skipped the batch before, which is of one session.
func (c *core) run(ctx context.Context, batch []*job, aside bool) {
	groups := c.appendGroups(make([]*group, 0, 1), batch)
	writes := make([]*Write, 0, len(groups))
	for i, g := range groups {
		g.aside = aside
		if err := g.prepare(ctx); err != nil {
			g.finish(err)
			groups[i] = nil
		} else if g.write != nil {
			writes = append(writes, g.write)
		}
	}
	var err error
	if len(writes) > 0 {
		err = c.commit(ctx, writes)
	}
	for _, g := range groups {
		if g != nil {
			g.finish(err)
		}
	}
}

// commit commits writes. A panic of the store becomes an error, so that the jobs of
// this batch fail and later batches are committed.
func (c *core) commit(ctx context.Context, writes []*Write) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{
				Code: CodeInternal, Uncertain: true,
				Msg: "the store failed unexpectedly; the change may or may not have been stored",
				Fix: FixUncertain,
				Err: fmt.Errorf("panic in Store.Commit: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	return c.store.Commit(ctx, writes)
}

// appendGroups appends the groups of a batch to groups. It leaves out jobs that
// were canceled.
func (c *core) appendGroups(groups []*group, batch []*job) []*group {
	var byKey map[Key]*group // for more than one job
	if len(batch) > 1 {
		byKey = make(map[Key]*group, len(batch))
	}
	for i, j := range batch {
		if err := j.ctx.Err(); err != nil {
			j.err = canceled(err)
			continue
		}
		if g := byKey[j.key]; g != nil {
			g.jobs = append(g.jobs, j)
			continue
		}
		g := &group{core: c, jobs: batch[i : i+1 : i+1]}
		groups = append(groups, g)
		if byKey != nil {
			byKey[j.key] = g
		}
	}
	return groups
}

// prepare finds the session and plans the group's write.
func (g *group) prepare(ctx context.Context) error {
	k := g.jobs[0].key
	textless := !slices.ContainsFunc(g.jobs, func(j *job) bool { return !j.textless })
	if s := g.core.cached(k, textless); s != nil {
		g.base = s
	} else if g.jobs[0].verb == begin {
		g.reset() // there is most likely no session; if there is, the store calls Rebase
	} else if err := g.refresh(ctx, k); err != nil {
		return err
	}
	g.lock()
	if g.aside || g.base.ledger.storedLen() != g.base.Len() { // a writer has changed it, or a reader has loaded more
		if err := g.refresh(ctx, k); err != nil {
			return err
		}
	}
	g.plan()
	if g.fresh || !g.refused() {
		return nil
	}
	// A refusal must not be due to a cached state that is out of date.
	old := g.base.Position()
	if err := g.refresh(ctx, k); err != nil {
		return err
	}
	if g.base.Position() != old {
		g.plan()
	}
	return nil
}

// refresh makes base what the store has now, and deletes a session that has
// expired. What is planned stays valid if base is still the same.
func (g *group) refresh(ctx context.Context, k Key) error {
	g.fresh = true
	var h Header
	var tail []Entry
	var whole *Session // if base is nil
	var err error
	if g.base != nil {
		h, tail, err = g.core.store.Load(ctx, k, g.base.Position(), 0)
	} else if whole, err = g.core.read(ctx, k, false); err == nil {
		h = whole.header
	}
	if err == nil && h.Expired(g.core.now()) {
		err = g.core.store.Delete(ctx, k, h.Epoch)
		if err == nil {
			err = ErrNotFound
		}
	}
	switch {
	case errors.Is(err, ErrNotFound):
		if g.base == nil || g.base.Version() > 0 {
			g.reset()
		}
		return nil
	case err != nil:
		return err
	case whole != nil:
		g.setBase(whole)
	case h.Position() != g.base.Position():
		return g.rebase(h, tail)
	}
	return nil
}

// rebase sets base to another committed state. Tail has the entries that base lacks,
// or all if they do not continue base.
func (g *group) rebase(h Header, tail []Entry) error {
	if g.base != nil && h.Continues(g.base.Position(), tail) {
		l := g.base.ledger
		l.truncate(0)
		l.extend(tail)
		g.setBase(snapshot(h, l, g.base.marks.with(tail, g.base.Len())))
		return nil
	}
	g.core.cache.remove(h.Key)
	l := newLedger(h.Epoch)
	l.extend(tail)
	var m *marks
	s, err := sessionOf(h, l, m.with(tail, 0))
	if err == nil {
		g.setBase(s)
	}
	return err
}

// setBase sets base, and makes the group the only writer of its ledger.
func (g *group) setBase(s *Session) {
	g.base = s
	g.lock()
}

// reset sets base to no session.
func (g *group) reset() { g.setBase(snapshot(Header{}, newLedger(newEpoch()), nil)) }

// newEpoch returns a random epoch, never 0. JSON numbers and all stores hold it
// exactly.
func newEpoch() int64 { return 1 + rand.Int64N(1<<53-1) }

// lock makes the group the only writer of the ledger of base, until finish.
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

// plan applies the group's changes to base, in order.
func (g *group) plan() {
	c, l := g.core, g.base.ledger
	l.truncate(0)
	g.write = nil
	g.settle(false)
	head := g.base
	var added []Entry
	now := precise(c.now())
	for _, j := range g.jobs {
		exists := head.Version() > 0
		j.result, j.err, j.panicked = nil, nil, nil
		switch {
		case exists && head.header.Expired(now):
			j.err = errRetry
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
			change.begin(Header{Key: j.key, Epoch: l.epoch, State: Active, Created: now, Context: ContextOf(j.ctx)})
		}
		j.run(change)
		s, entries := change.end(c.ttl, head.Len())
		if j.err != nil {
			l.truncate(head.Len())
			continue
		}
		if j.err = g.reserve(head, s); j.err != nil {
			l.truncate(head.Len())
			continue
		}
		head, j.result = s, s
		if added == nil { // there is most often one change
			added = entries
		} else {
			added = append(added, entries...)
		}
	}
	g.head = head
	if head.Version() == g.base.Version() {
		return
	}
	g.write = &Write{
		Base:    g.base.Position(),
		Header:  head.header,
		Entries: added,
		Rebase:  g.replan,
		Try:     g.core.queue.lanes > 0 && !g.aside,
	}
	if l.textless == 0 {
		g.write.log = l.log
	}
}

// replan is the [Write.Rebase] of the group's write.
func (g *group) replan(now Header, exists bool, tail []Entry) bool {
	w := g.write
	if w == nil {
		return false // the store repeats a transaction in which there was nothing to write
	}
	if exists {
		if w.Err = g.rebase(now, tail); w.Err != nil {
			return false
		}
	} else {
		g.reset()
	}
	g.fresh = true
	g.plan()
	if g.write == nil {
		return false
	}
	*w = *g.write // the store has w
	g.write = w
	return true
}

// run calls the change function. A panic is kept for the job's caller.
func (j *job) run(c *Change) {
	defer func() {
		if p := recover(); p != nil {
			j.panicked, j.err = p, errRetry
		}
	}()
	j.err = j.change(c)
	if j.err == nil {
		j.err = c.err
	}
}

// reserve reserves the owner's quota for the change from one state to the next.
func (g *group) reserve(from, to *Session) error {
	add := growth{bytes: to.header.Bytes - from.header.Bytes}
	if from.Version() == 0 && to.Version() > 0 {
		add.sessions = 1
	}
	err := g.core.meter.reserve(g.jobs[0].key.Owner, add)
	if err == nil {
		g.reserved = g.reserved.plus(add)
	}
	return err
}

// settle ends the reservation.
func (g *group) settle(committed bool) {
	g.core.meter.settle(g.jobs[0].key.Owner, g.reserved, committed)
	g.reserved = growth{}
}

// refused reports whether a change of the group was refused.
func (g *group) refused() bool {
	return slices.ContainsFunc(g.jobs, func(j *job) bool { return j.err != nil })
}

// finish makes the ledger hold what is committed, updates the cache and releases
// the ledger. Err is an error of the whole group; the write may have its own.
func (g *group) finish(err error) {
	defer g.unlock()
	if g.write != nil && err == nil {
		err = g.write.Err
	}
	g.settle(g.write != nil && err == nil && !g.write.Skipped)
	switch {
	case err == nil && g.write != nil && g.write.Try && g.write.Skipped:
		g.base.ledger.truncate(0)
		for _, j := range g.jobs {
			j.result, j.err = nil, errSkipped
		}
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

// fail gives an error to the jobs that were not refused for themselves. Jobs
// that would be applied again meet the same error.
func (g *group) fail(err error) {
	for _, j := range g.jobs {
		if j.err == nil || j.err == errRetry {
			j.result, j.err = nil, err
		}
	}
}

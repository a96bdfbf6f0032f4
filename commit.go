package sequent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
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

// A plan is one call of Begin, Update or Ensure.
type plan struct {
	*core
	key    Key
	verb   verb
	change func(*Change) error

	base     *Session // as committed; its Version is 0 if there is no session
	next     *Session // with the change; base if the change records nothing
	added    []Entry
	growth   growth // that the quota has admitted
	err      error  // why the change was refused
	panicked any    // what the change function panicked with
}

var (
	// errExpired refuses a change of a session that has expired and is still stored.
	errExpired = errors.New("sequent: the session has expired")
	errPanic   = errors.New("sequent: the change function panicked")
)

// apply plans a change on what this process knows of the session, and commits it.
func (e *Engine) apply(ctx context.Context, id ID, v verb, change func(*Change) error) (*Session, error) {
	k, err := e.key(ctx, id, true)
	if err != nil {
		return nil, err
	}
	if change == nil {
		return nil, &Error{Code: CodeInternal, Msg: "the change function is nil"}
	}
	if _, err := e.meter.refresh(ctx, e.owner, usageAge); err != nil {
		return nil, err
	}
	sl := e.slots.enter(k)
	defer e.slots.leave(sl)
	if err := sl.lock(ctx); err != nil {
		return nil, err
	}
	defer sl.unlock()
	p := &plan{core: e.core, key: k, verb: v, change: change, base: sl.session.Load()}
	s, err := p.run(ctx, sl)
	if p.panicked != nil {
		panic(p.panicked)
	}
	if CodeOf(err) == CodeQuotaExceeded {
		e.quotaRefused.Add(1)
	}
	return s, err
}

// maxAttempts is how often a change is planned anew because other writers come first.
const maxAttempts = 100

// run returns the session after the change. A refusal is believed if it is on what the store
// has now.
func (p *plan) run(ctx context.Context, sl *slot) (*Session, error) {
	fresh := false
	if p.base == nil && p.verb == begin {
		p.base = new(Session) // most likely; if there is one, the store calls Rebase
	}
	for range maxAttempts {
		if err := ctx.Err(); err != nil {
			return nil, canceled(err)
		}
		if p.base == nil {
			if err := p.load(ctx, sl); err != nil {
				return nil, err
			}
			fresh = true
		}
		p.apply(ctx)
		if p.err == nil && p.next != p.base {
			if p.commit(ctx, sl) {
				return p.next, nil
			}
			fresh = true // Rebase has seen what is stored, or the store has failed
		}
		switch {
		case p.panicked != nil:
			return nil, p.err
		case p.err == nil:
			return p.base, nil
		case p.err == errExpired && fresh:
			if err := p.store.Delete(ctx, p.key, p.base.Epoch()); err != nil && !errors.Is(err, ErrNotFound) {
				return nil, err
			}
			p.base, fresh = new(Session), true
		case errors.Is(p.err, ErrConflict):
			p.base = nil
		case CodeOf(p.err) == CodeQuotaExceeded:
			if newer, err := p.meter.refresh(ctx, p.key.Owner, refusalAge); !newer || err != nil {
				return nil, p.err
			}
		case !fresh:
			p.base = nil
		default:
			return nil, p.err
		}
	}
	return nil, p.err
}

// load sets base to what the store has now.
func (p *plan) load(ctx context.Context, sl *slot) error {
	s, err := p.read(ctx, sl)
	if errors.Is(err, ErrNotFound) {
		s, err = new(Session), nil
	}
	p.base = s
	return err
}

// apply sets next and added to what the change makes of base, or err.
func (p *plan) apply(ctx context.Context) {
	p.meter.settle(p.key.Owner, p.growth, false)
	p.growth, p.next, p.added = growth{}, p.base, nil
	now := precise(p.now())
	exists := p.base.Version() > 0
	switch {
	case exists && p.base.header.Expired(now):
		p.err = errExpired
		return
	case exists && p.base.fault != nil:
		p.err = corrupt(p.base)
		return
	case exists && p.verb == begin:
		p.err = Errorf(CodeSessionExists, "sessionId", "use another id, or continue that session",
			"there is a session with that id already")
		return
	case !exists && p.verb == update:
		p.err = NotFound(p.key.ID)
		return
	}
	var h *Header
	if !exists {
		h = &Header{Key: p.key, Epoch: newEpoch(), State: Active, Created: now, Origin: OriginOf(ctx)}
	}
	if p.err = p.call(&Change{limits: p.limits, now: now}, h); p.err != nil || p.next == p.base {
		return
	}
	if p.err = p.limits.checkBytes(&p.next.header, p.added); p.err != nil {
		return
	}
	g := growth{bytes: p.next.header.Bytes - p.base.header.Bytes}
	if !exists {
		g.sessions = 1
	}
	if p.err = p.meter.admit(p.key.Owner, g); p.err == nil {
		p.growth = g
	}
}

// call calls the change function. A panic is kept for the caller: a store may be in its
// transaction.
func (p *plan) call(c *Change, begin *Header) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.panicked, err = v, errPanic
		}
	}()
	next, added, err := c.run(p.base, begin, p.change, p.ttl)
	if err == nil {
		p.next, p.added = next, added
	}
	return err
}

// newEpoch returns a random epoch, never 0. JSON numbers and all stores hold it
// exactly.
func newEpoch() int64 { return 1 + rand.Int64N(1<<53-1) }

func corrupt(s *Session) error {
	return Errorf(CodeCorrupt, "sessionId", "run `sequent store verify`, and restore the session from a backup, or begin another one",
		"the session %s is not what was recorded: %s", s.ID(), s.fault)
}

// commit commits next and reports whether it is stored. Otherwise err says why, or Rebase has
// found nothing to write.
func (p *plan) commit(ctx context.Context, sl *slot) (stored bool) {
	w := &Write{Base: p.base.Position(), Header: p.next.header, Entries: p.added}
	w.Rebase = func(now Header, tail []Entry) bool {
		if now.Version > 0 {
			p.base = p.base.with(now, tail)
		} else {
			p.base = new(Session)
		}
		p.apply(ctx)
		w.Base, w.Header, w.Entries = p.base.Position(), p.next.header, p.added
		return p.err == nil && p.next != p.base
	}
	if err := p.commits.commit(ctx, w); err != nil {
		p.err = err
	}
	stored = p.err == nil && p.next != p.base
	p.meter.settle(p.key.Owner, p.growth, stored)
	p.growth = growth{}
	switch {
	case stored:
		sl.session.Store(p.next)
		if p.base.lost != nil && p.lost != nil {
			p.lost(ctx, p.key, Ranges(p.base.lost))
		}
	case p.base.lost != nil:
		sl.session.Store(p.base) // the next change notes it
	default:
		sl.session.Store(nil) // the outcome may be unknown
	}
	return stored
}

// A committer commits for all callers that wait, so that many changes share one transaction
// and one fsync. The first caller of a batch commits it. See decision 0080.
type committer struct {
	store Store

	mu      sync.Mutex
	waiting []*waiter
	running time.Time             // since when a batch is under way; zero if none is
	alone   map[*waiter]time.Time // the same of writes that wait for a locked session
}

// A waiter is a write that waits for a batch.
type waiter struct {
	ctx   context.Context
	write *Write
	lead  chan bool // receives true if it leads the next batch, false if it was committed; nil if it leads at once
}

// maxBatch bounds the writes of one commit. More only make it longer.
const maxBatch = 256

func (c *committer) init(s Store) {
	c.store, c.alone = s, make(map[*waiter]time.Time)
}

// commit commits a write. The caller is the only one who commits its session.
func (c *committer) commit(ctx context.Context, w *Write) error {
	self := &waiter{ctx: ctx, write: w}
	leads := c.enter(self)
	if !leads {
		select {
		case leads = <-self.lead:
		case <-ctx.Done():
			if c.withdraw(self) {
				return canceled(ctx.Err())
			}
			leads = <-self.lead
		}
	}
	if leads {
		c.run(self)
	}
	if w.Err == ErrLocked { // it waits alone: no other write waits for it
		c.runAlone(self)
	}
	return w.Err
}

// enter reports whether a waiter leads a batch at once.
func (c *committer) enter(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running.IsZero() {
		c.running = time.Now()
		return true
	}
	w.lead = make(chan bool, 1)
	c.waiting = append(c.waiting, w)
	return false
}

// withdraw removes a waiter, and reports whether it was still waiting.
func (c *committer) withdraw(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, w)
	if i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
	return i >= 0
}

// run commits a batch: self, and those that wait. The next one is led by the first that waits
// then.
func (c *committer) run(self *waiter) {
	c.mu.Lock()
	n := min(len(c.waiting), maxBatch-1)
	others := slices.Clone(c.waiting[:n])
	c.waiting = slices.Delete(c.waiting, 0, n)
	c.mu.Unlock()
	writes := []*Write{self.write}
	for _, w := range others {
		if err := w.ctx.Err(); err != nil {
			w.write.Err = canceled(err)
			continue
		}
		writes = append(writes, w.write)
	}
	c.call(self.ctx, writes)
	for _, w := range others {
		w.lead <- false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = time.Time{}
	if len(c.waiting) > 0 {
		next := c.waiting[0]
		c.waiting = slices.Delete(c.waiting, 0, 1)
		c.running = time.Now()
		next.lead <- true
	}
}

// runAlone commits a write whose session another process has locked.
func (c *committer) runAlone(self *waiter) {
	self.write.Wait, self.write.Err = true, nil
	c.mu.Lock()
	c.alone[self] = time.Now()
	c.mu.Unlock()
	c.call(self.ctx, []*Write{self.write})
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.alone, self)
}

// call has the store commit writes, and sets their errors. A panic of the store becomes an
// error, so that later batches are committed.
func (c *committer) call(ctx context.Context, writes []*Write) {
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = &Error{
				Code: CodeInternal, Uncertain: true,
				Msg: "the store failed unexpectedly; the change may or may not have been stored",
				Fix: FixUncertain,
				Err: fmt.Errorf("panic in Store.Commit: %v\n%s", p, debug.Stack()),
			}
		}
		for _, w := range writes {
			w.Err = cmp.Or(err, w.Err)
		}
	}()
	err = c.store.Commit(context.WithoutCancel(ctx), writes)
}

func (c *committer) stats(s *Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Waiting, s.Committing = len(c.waiting), len(c.alone)
	if !c.running.IsZero() {
		s.Committing++
		s.Oldest = time.Since(c.running)
	}
	for _, since := range c.alone {
		s.OldestAlone = max(s.OldestAlone, time.Since(since))
	}
}

// ErrLocked is what a store says of a [Write] that does not wait for a session that another
// process has locked.
var ErrLocked = error(&Error{Code: CodeBusy, Msg: "another process has locked the session", Fix: "try again"})

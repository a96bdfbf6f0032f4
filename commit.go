package sequent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
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

// A plan is one call of Begin, Update, Ensure or Restore.
type plan struct {
	*core
	ctx     context.Context
	slot    *slot
	verb    verb
	change  func(*Change) error
	restore func(base *Session) (*Session, []Entry, error) // what Restore does instead of change

	base     *Session // as committed; its Version is 0 if there is no session
	next     *Session // with the change; base if the change records nothing
	added    []Entry
	growth   growth // that the quota has admitted
	err      error  // why the change was refused
	panicked any    // what the change function panicked with

	write Write     // of next, for the store
	leads chan bool // receives true if it leads the next batch of writes, false if it was in one
}

var errPanic = errors.New("sequent: the change function panicked")

// apply plans a change on what this process knows of the session, and commits it.
func (e *Engine) apply(ctx context.Context, id ID, v verb, change func(*Change) error) (*Session, error) {
	k, err := e.key(ctx, id, true)
	if err != nil {
		return nil, err
	}
	if change == nil {
		return nil, &Error{Code: CodeInternal, Msg: "the change function is nil"}
	}
	return e.open().commit(k, plan{ctx: ctx, verb: v, change: change})
}

// commit returns the session after a plan.
func (c *core) commit(k Key, p plan) (*Session, error) {
	if _, err := c.meter.refresh(p.ctx, k.Owner, usageAge); err != nil {
		return nil, err
	}
	p.core, p.slot = c, c.slots.enter(k)
	defer c.slots.leave(p.slot)
	if err := p.slot.lock(p.ctx); err != nil {
		return nil, err
	}
	defer p.slot.unlock()
	if p.restore == nil { // what Restore compares is what the store has now
		p.base = p.slot.session.Load()
	}
	s, err := p.run()
	if p.panicked != nil {
		panic(p.panicked)
	}
	if CodeOf(err) == CodeQuotaExceeded {
		c.quotaRefused.Add(1)
	}
	return s, err
}

// maxAttempts is how often a change is planned anew because other writers come first.
const maxAttempts = 100

// run returns the session after the change. A refusal is believed if it is on what the store
// has now.
func (p *plan) run() (*Session, error) {
	fresh := false
	if p.base == nil && p.verb == begin {
		p.base = new(Session) // most likely; if there is one, the store calls Rebase
	}
	for range maxAttempts {
		if err := p.ctx.Err(); err != nil {
			return nil, canceled(err)
		}
		if p.base == nil {
			if err := p.load(); err != nil {
				return nil, err
			}
			fresh = true
		}
		if p.prepare(); p.err == nil && p.next != p.base {
			p.save()
			fresh = true // Rebase has seen what is stored, or the store has failed
		}
		switch {
		case p.err == nil:
			return p.next, nil
		case errors.Is(p.err, ErrConflict), !fresh && CodeOf(p.err) != CodeQuotaExceeded && p.panicked == nil:
			p.base = nil
		case CodeOf(p.err) == CodeQuotaExceeded:
			if newer, err := p.meter.refresh(p.ctx, p.slot.key.Owner, refusalAge); !newer || err != nil {
				return nil, p.err
			}
		default:
			return nil, p.err
		}
	}
	return nil, p.err
}

// load sets base to what the store has now. It deletes a session that has expired.
func (p *plan) load() error {
	s, err := p.read(p.ctx, p.slot)
	if err == nil && s.header.Expired(p.now()) {
		if err = p.store.Delete(p.ctx, p.slot.key, s.Epoch()); err == nil {
			err = ErrNotFound
		}
	}
	if errors.Is(err, ErrNotFound) {
		s, err = new(Session), nil
	}
	p.base = s
	return err
}

// prepare sets next and added to what the change makes of base, or err.
func (p *plan) prepare() {
	p.meter.settle(p.slot.key.Owner, p.growth, false)
	p.growth, p.next, p.added = growth{}, p.base, nil
	now := precise(p.now())
	exists := p.base.Version() > 0
	switch {
	case exists && p.base.header.Expired(now):
		p.err = ErrConflict // to be loaded, and deleted
		return
	case exists && p.base.fault != nil:
		p.err = Errorf(CodeCorrupt, "sessionId", "run `sequent store verify`, and restore the session from a backup, or begin another one",
			"the session %s is not what was recorded: %s", p.slot.key.ID, p.base.fault)
		return
	}
	if p.err = p.call(now, exists); p.err != nil || p.next == p.base {
		return
	}
	p.err = p.limits.checkBytes(&p.next.header, p.added)
	if p.err != nil || p.restore != nil { // a dialect restores what it has deleted, whatever the quota
		return
	}
	g := growth{bytes: p.next.header.Bytes - p.base.header.Bytes}
	if !exists {
		g.sessions = 1
	}
	if p.err = p.meter.admit(p.slot.key.Owner, g); p.err == nil {
		p.growth = g
	}
}

// call calls the change function. A panic is kept for the caller: a store may be in its
// transaction.
func (p *plan) call(now time.Time, exists bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.panicked, err = v, errPanic
		}
	}()
	switch {
	case p.restore != nil:
		return p.take(p.restore(p.base))
	case exists && p.verb == begin:
		return Errorf(CodeSessionExists, "sessionId", "use another id, or continue that session",
			"there is a session with that id already")
	case !exists && p.verb == update:
		return NotFound(p.slot.key.ID)
	}
	var h *Header
	if !exists {
		h = &Header{Key: p.slot.key, Epoch: newEpoch(), State: Active, Created: now, Origin: OriginOf(p.ctx)}
	}
	c := &Change{limits: p.limits, now: now}
	return p.take(c.run(p.base, h, p.change, p.ttl))
}

// take sets next and added, unless the change was refused.
func (p *plan) take(next *Session, added []Entry, err error) error {
	if err == nil {
		p.next, p.added = next, added
	}
	return err
}

// newEpoch returns a random epoch, never 0. JSON numbers and all stores hold it
// exactly.
func newEpoch() int64 { return 1 + rand.Int64N(1<<53-1) }

// save stores next. Afterwards err says why it could not, or next is base because rebase has
// found nothing to write.
func (p *plan) save() {
	p.write = Write{Base: p.base.Position(), Header: p.next.header, Entries: p.added, Rebase: p.rebase}
	if err := p.commits.commit(p); err != nil {
		p.err = err
	}
	known, stored := p.base, p.err == nil && p.next != p.base
	p.meter.settle(p.slot.key.Owner, p.growth, stored)
	p.growth = growth{}
	if stored {
		known = p.next
		if p.base.lost != nil && p.lost != nil {
			p.lost(p.ctx, p.slot.key, Ranges(p.base.lost))
		}
	}
	if known.Version() == 0 {
		known = nil
	}
	p.slot.session.Store(known)
}

// rebase is [Write.Rebase].
func (p *plan) rebase(now Header, tail []Entry) bool {
	if now.Version > 0 {
		p.base = p.base.with(now, tail)
	} else {
		p.base = new(Session)
	}
	p.prepare()
	p.write.Base, p.write.Header, p.write.Entries = p.base.Position(), p.next.header, p.added
	return p.err == nil && p.next != p.base
}

// A committer commits for all callers that wait, so that many changes share one transaction
// and one fsync. The first caller of a batch commits it. See decision 0080.
type committer struct {
	store Store

	mu      sync.Mutex
	waiting []*plan
	running time.Time // since when a batch is under way; zero if none is
}

// commit commits the write of a plan, whose session has no other. It is not stored if the
// context is done when its batch begins.
func (c *committer) commit(p *plan) error {
	c.mu.Lock()
	leads := c.running.IsZero()
	if leads {
		c.running = time.Now()
	} else {
		p.leads = make(chan bool, 1)
	}
	c.waiting = append(c.waiting, p)
	c.mu.Unlock()
	if leads || <-p.leads {
		c.run()
	}
	if p.write.Err == ErrLocked { // no other write waits for it
		p.write.Wait, p.write.Err = true, nil
		c.call(p.ctx, []*Write{&p.write})
	}
	return p.write.Err
}

// run commits all that wait, of which the caller is the first. The next batch is led by the
// first that waits then.
func (c *committer) run() {
	c.mu.Lock()
	batch := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	writes := make([]*Write, 0, len(batch))
	for _, p := range batch {
		if err := p.ctx.Err(); err != nil {
			p.write.Err = canceled(err)
			continue
		}
		writes = append(writes, &p.write)
	}
	c.call(batch[0].ctx, writes)
	for _, p := range batch[1:] {
		p.leads <- false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = time.Time{}
	if len(c.waiting) > 0 {
		c.running = time.Now()
		c.waiting[0].leads <- true
	}
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

// ErrLocked is what a store says of a [Write] that does not wait for a session that another
// process has locked.
var ErrLocked = error(&Error{Code: CodeBusy, Msg: "another process has locked the session", Fix: "try again"})

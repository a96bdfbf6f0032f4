package sequent

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

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

package governor

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrEnding is the error of waits after [Governor.EndWaits].
var ErrEnding = errors.New("the server is shutting down; try again")

// A waiter waits for units of a resource.
type waiter struct {
	n       int64
	granted chan struct{} // closed when it has them
}

// Wait is Take, but waits while the subject may not have the units. Calls of one
// subject are served in the order of arrival. Among subjects the one that holds the
// least is served first, and of several such the one that was served longest ago.
// After Config.Wait it returns a [*Refusal], after [Governor.EndWaits] ErrEnding. If ctx is done before, it returns the
// error of ctx.
func (s *Subject) Wait(ctx context.Context, r Resource, n int64) error {
	g := s.g
	g.mu.Lock()
	if len(s.waiters[r]) == 0 && s.fits(r, n, g.sole) {
		s.serve(r, n)
		g.mu.Unlock()
		return nil
	}
	w := &waiter{n: n, granted: make(chan struct{})}
	s.enqueue(r, w)
	g.mu.Unlock()

	var late <-chan time.Time
	if g.maxWait > 0 {
		t := time.NewTimer(g.maxWait)
		defer t.Stop()
		late = t.C
	}
	var err error
	select {
	case <-w.granted:
	case <-late:
	case <-ctx.Done():
		err = ctx.Err()
	case <-g.ending:
		err = ErrEnding
	}
	return s.waited(r, w, err)
}

// waited ends the waiting. The error is that of the waiter's context, if it is done.
func (s *Subject) waited(r Resource, w *waiter, err error) error {
	g := s.g
	g.mu.Lock()
	waiting := s.dequeue(r, w)
	var refusal *Refusal
	switch {
	case waiting && err == nil:
		refusal = s.refusal(r, w.n)
		g.counts.refuse(refusal)
		err = refusal
	case !waiting && err != nil: // granted at the last moment
		s.add(r, -w.n)
	}
	g.grant(r) // the next waiter may want less than this one
	s.release()
	g.mu.Unlock()
	if refusal != nil {
		g.log.add(refusal)
	}
	return err
}

// enqueue adds a waiter. The caller holds g.mu.
func (s *Subject) enqueue(r Resource, w *waiter) {
	if len(s.waiters[r]) == 0 {
		s.g.queues[r] = append(s.g.queues[r], s)
	}
	s.waiters[r] = append(s.waiters[r], w)
	s.retain()
}

// dequeue removes a waiter and reports whether it was there. The caller holds g.mu.
func (s *Subject) dequeue(r Resource, w *waiter) bool {
	i := slices.Index(s.waiters[r], w)
	if i < 0 {
		return false
	}
	s.waiters[r] = slices.Delete(s.waiters[r], i, i+1)
	if len(s.waiters[r]) == 0 {
		q := s.g.queues[r]
		i := slices.Index(q, s)
		s.g.queues[r] = slices.Delete(q, i, i+1)
	}
	return true
}

// grant serves waiters while there is something for them. The caller holds mu.
func (g *Governor) grant(r Resource) {
	for {
		var next *Subject
		for _, s := range g.queues[r] {
			if s.fits(r, s.waiters[r][0].n, g.sole) && (next == nil || s.before(next, r)) {
				next = s
			}
		}
		if next == nil {
			return
		}
		w := next.waiters[r][0]
		next.dequeue(r, w)
		next.serve(r, w.n)
		close(w.granted)
	}
}

// serve adds what was waited for. The caller holds g.mu.
func (s *Subject) serve(r Resource, n int64) {
	s.add(r, n)
	s.g.grants++
	s.served[r] = s.g.grants
}

// before reports whether s is served before t. The caller holds g.mu.
func (s *Subject) before(t *Subject, r Resource) bool {
	if s.held[r] != t.held[r] {
		return s.held[r] < t.held[r]
	}
	return s.served[r] < t.served[r]
}

package governor

import (
	"container/list"
	"time"

	"golang.org/x/time/rate"
)

// A Subject is a client, or several clients that cannot be told apart. It is safe for
// concurrent use.
type Subject struct {
	g    *Governor
	name string

	// Guarded by g.mu:
	refs    int           // callers of Governor.Subject, kinds of resources held, waiters
	place   *list.Element // in g.idle while refs is 0
	held    Limits
	waiters [resources][]*waiter
	served  [resources]uint64 // value of g.grants at the last grant
	rate    *rate.Limiter     // nil before the first request
	refused *rate.Limiter     // of refusals without delay; nil before the first
	replies map[string]*replySize
	unsent  int64 // bytes of replies that are made
}

// Name returns the name of the subject.
func (s *Subject) Name() string { return s.name }

// Release ends the caller's use of the subject. The subject keeps what it holds.
func (s *Subject) Release() {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.release()
}

// retain adds a reference. The caller holds g.mu.
func (s *Subject) retain() {
	s.refs++
	if s.place != nil {
		s.g.idle.Remove(s.place)
		s.place = nil
	}
}

// release removes a reference. The caller holds g.mu.
func (s *Subject) release() {
	s.refs--
	if s.refs > 0 {
		return
	}
	g := s.g
	s.place = g.idle.PushFront(s)
	if g.idle.Len() > maxIdle {
		delete(g.subjects, g.idle.Remove(g.idle.Back()).(*Subject).name)
	}
}

// Take takes n units of a resource. It returns a [*Refusal] if the subject may not
// have them now.
func (s *Subject) Take(r Resource, n int64) error {
	return s.take(r, n, s.g.sole)
}

// TakeUnshared is Take for a subject that stands for many others, such as a proxy: it
// may hold all that is free.
func (s *Subject) TakeUnshared(r Resource, n int64) error {
	return s.take(r, n, true)
}

func (s *Subject) take(r Resource, n int64, all bool) error {
	s.g.mu.Lock()
	if s.fits(r, n, all) {
		s.add(r, n)
		s.g.mu.Unlock()
		return nil
	}
	refusal := s.refusal(r, n)
	s.g.counts.refuse(refusal)
	s.g.mu.Unlock()
	s.g.log.add(refusal)
	return refusal
}

// fits reports whether the subject may take n units. With all it may take what is
// free; otherwise as much must remain free as it then holds, except for one unit, so
// that a limit of 1 is of use. The caller holds g.mu.
func (s *Subject) fits(r Resource, n int64, all bool) bool {
	limit, free := s.g.limits[r], s.g.limits[r]-s.g.used[r]
	switch {
	case limit < 0 || n <= 0:
		return true
	case all:
		return n <= free
	}
	return s.held[r]+2*n-1 <= free
}

// share returns how much the subject may hold at present. The caller holds g.mu.
func (s *Subject) share(r Resource) int64 {
	rest := s.g.limits[r] - s.g.used[r] + s.held[r]
	if s.g.sole {
		return rest
	}
	return (rest + 1) / 2
}

// Give returns n units of a resource.
func (s *Subject) Give(r Resource, n int64) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.add(r, -n)
	s.g.grant(r)
}

// add adds n units, which may be negative. The caller holds g.mu.
func (s *Subject) add(r Resource, n int64) {
	before := s.held[r]
	s.held[r] += n
	s.g.used[r] += n
	switch after := s.held[r]; {
	case before == 0 && after != 0:
		s.retain()
	case before != 0 && after == 0:
		s.release()
	}
}

// Held returns how much the subject holds of a resource.
func (s *Subject) Held(r Resource) int64 {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.held[r]
}

// Delay counts a refusal and returns how long the client should wait for it: not at
// all, unless it is refused far more often than a client that heeds refusals. So an
// attacker that waits for answers cannot take the processor by being refused.
func (s *Subject) Delay() time.Duration {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	if s.refused == nil {
		s.refused = rate.NewLimiter(promptRefusals, promptRefusals)
	}
	if s.refused.Allow() {
		return 0
	}
	return refusalDelay
}

// Request counts a request. It returns a [*Throttled] if the subject sends requests
// too fast; that request is not counted.
func (s *Subject) Request() error {
	s.g.counts.requests.Add(1)
	if s.g.rate == 0 {
		return nil
	}
	s.g.mu.Lock()
	if s.rate == nil {
		s.rate = rate.NewLimiter(s.g.rate, s.g.burst)
	}
	limiter := s.rate
	s.g.mu.Unlock()
	now := time.Now()
	reservation := limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(now)
	s.g.counts.throttled.Add(1)
	return &Throttled{Rate: float64(s.g.rate), RetryAfter: wait}
}

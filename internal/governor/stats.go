package governor

import "sync/atomic"

// Stats are numbers of a governor, over all subjects.
type Stats struct {
	Requests  int64 // that were counted by Request, throttled ones included
	Throttled int64 // that came too fast
	Resources [resources]ResourceStats
}

// ResourceStats are the numbers of one resource.
type ResourceStats struct {
	Resource   Resource
	Used       int64 // by all subjects at present
	Limit      int64 // negative for none
	Waiting    int   // callers of Wait at present
	RefusedOwn int64 // refusals of subjects that used too much themselves
	RefusedAll int64 // refusals because all subjects together used everything
}

// counts are what only Stats reads. Those of refusals are guarded by Governor.mu.
type counts struct {
	requests, throttled atomic.Int64
	own, all            [resources]int64
}

// refuse counts a refusal. The caller holds Governor.mu.
func (c *counts) refuse(e *Refusal) {
	if e.Own() {
		c.own[e.Resource]++
	} else {
		c.all[e.Resource]++
	}
}

// Stats returns numbers for monitoring. They name no subject.
func (g *Governor) Stats() (s Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.Requests, s.Throttled = g.counts.requests.Load(), g.counts.throttled.Load()
	for i := range s.Resources {
		r := Resource(i)
		n := 0
		for _, subject := range g.queues[r] {
			n += len(subject.waiters[r])
		}
		s.Resources[r] = ResourceStats{
			Resource: r, Used: g.used[r], Limit: g.limits[r], Waiting: n,
			RefusedOwn: g.counts.own[r], RefusedAll: g.counts.all[r],
		}
	}
	return s
}

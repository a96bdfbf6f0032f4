package sequent

import "sync/atomic"

// Stats are numbers of an engine since it was made, and at present, over all owners. They
// name no owner and no session.
type Stats struct {
	CacheSessions int   // sessions in the cache
	CacheBytes    int64 // memory that they take, about
	CacheLimit    int64 // limit of that memory; negative for no cache
	CacheHits     int64 // look-ups that found a session
	CacheMisses   int64 // look-ups that did not

	Waiting    int // changes that wait for a commit
	Committing int // commits that the store has not answered yet
	Lanes      int // commits that may be under way at a time, besides those of locked sessions

	QuotaRefused int64 // changes that were refused by the quota
	Swept        int64 // sessions that Sweep, SweepUnchanged and DeleteAll deleted
	Followers    int   // running calls of Follow
}

// counters are what only Stats reads.
type counters struct {
	quotaRefused, swept, followers atomic.Int64
}

// Stats returns numbers for monitoring. They cost nothing but a lock.
func (e *Engine) Stats() (s Stats) {
	if e.core == nil {
		return s
	}
	c := e.core
	s.QuotaRefused, s.Swept, s.Followers = c.counted.quotaRefused.Load(), c.counted.swept.Load(), int(c.counted.followers.Load())
	c.cache.mu.Lock()
	s.CacheSessions, s.CacheBytes, s.CacheLimit = len(c.cache.entries), c.cache.bytes, c.cache.most
	s.CacheHits, s.CacheMisses = c.cache.hits, c.cache.misses
	c.cache.mu.Unlock()
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	s.Waiting, s.Committing, s.Lanes = len(q.waiting), len(q.running)+len(q.aside), max(q.lanes, 1)
	return s
}

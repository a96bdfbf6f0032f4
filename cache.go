package sequent

import (
	"container/list"
	"sync"
)

// A cache keeps the most recently used sessions within a number of bytes, but at
// least one. If the number is negative, it keeps none.
type cache struct {
	most int64

	mu      sync.Mutex // guards what follows
	bytes   int64
	entries map[Key]*list.Element // of recent, each holding an *entry
	recent  *list.List            // most recently used first
}

// An entry is a session as it was committed.
type entry struct {
	session *Session
	bytes   int64
}

func newCache(most int64) *cache {
	return &cache{most: most, entries: make(map[Key]*list.Element), recent: list.New()}
}

// get returns the cached session with a key, or nil.
func (c *cache) get(k Key) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[k]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(el)
	return el.Value.(*entry).session
}

// put adds a session, unless the cache has a later version of it.
func (c *cache) put(s *Session) {
	bytes := int64(s.size())
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[s.Key()]; ok {
		e := el.Value.(*entry)
		if e.session.Epoch() == s.Epoch() && e.session.Version() > s.Version() {
			return
		}
		c.bytes -= e.bytes
		e.session, e.bytes = s, bytes
		c.recent.MoveToFront(el)
	} else {
		c.entries[s.Key()] = c.recent.PushFront(&entry{session: s, bytes: bytes})
	}
	c.bytes += bytes
	// The most recent session stays even if it alone exceeds the limit: otherwise
	// each use would read it whole again.
	least := 1
	if c.most < 0 {
		least = 0
	}
	for c.bytes > c.most && c.recent.Len() > least {
		c.drop(c.recent.Back())
	}
}

func (c *cache) remove(k Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[k]; ok {
		c.drop(el)
	}
}

// removeSwept removes the sessions that q selects. A session that another process
// has changed is read again when it is next used.
func (c *cache) removeSwept(q SweepQuery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, el := range c.entries {
		if q.selects(&el.Value.(*entry).session.header) {
			c.drop(el)
		}
	}
}

// drop removes one session. The caller holds mu.
func (c *cache) drop(el *list.Element) {
	e := c.recent.Remove(el).(*entry)
	delete(c.entries, e.session.Key())
	c.bytes -= e.bytes
	if len(c.entries) == 0 {
		c.entries = make(map[Key]*list.Element) // a map does not shrink
	}
}

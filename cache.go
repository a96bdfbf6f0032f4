package sequent

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// A cache keeps the most recently used sessions within a number of bytes, but at
// least one. If the number is negative, it keeps none.
//
// It may drop the texts of sessions that were used longest ago, and keep what an
// append needs of them; see [Engine.WithoutTexts].
type cache struct {
	most       int64
	dropsTexts atomic.Bool

	mu       sync.Mutex // guards what follows
	bytes    int64
	hits     int64 // of get
	misses   int64
	entries  map[Key]*list.Element // each holding an *entry
	recent   *list.List            // sessions with texts, most recently used first
	textless *list.List            // sessions whose texts were dropped, in the same order
	bare     int64                 // bytes of textless
}

// An entry is a session as it was committed.
type entry struct {
	session *Session
	bytes   int64
	list    *list.List // that the entry is in
}

func newCache(most int64) *cache {
	return &cache{most: most, entries: make(map[Key]*list.Element), recent: list.New(), textless: list.New()}
}

// get returns the cached session with a key, or nil.
func (c *cache) get(k Key) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[k]
	if !ok {
		c.misses++
		return nil
	}
	c.hits++
	e := el.Value.(*entry)
	e.list.MoveToFront(el)
	return e.session
}

// put adds a session, unless the cache has a later version of it.
func (c *cache) put(s *Session) {
	bytes := int64(s.size())
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[s.Key()]
	if ok {
		if old := el.Value.(*entry).session; old.Epoch() == s.Epoch() && old.Version() > s.Version() {
			return
		}
	}
	if to := c.listFor(s); ok && el.Value.(*entry).list == to {
		c.replace(el, s, bytes)
	} else {
		if ok {
			c.drop(el)
		}
		c.add(s, bytes, to)
	}
	// The most recent session stays even if it alone exceeds the limit: otherwise
	// each use would read it whole again.
	least := 1
	if c.most < 0 {
		least = 0
	}
	for c.bytes > c.most && len(c.entries) > least {
		c.shrink()
	}
}

// listFor returns the list for a session. One that has got some texts since they were
// dropped is in recent again; not at once, because dropping them copies the rest. The
// caller holds mu, as do those of the methods below.
func (c *cache) listFor(s *Session) *list.List {
	if l := s.ledger; s.HasTexts(1) || s.Len()-l.textless > s.Len()/32+4 {
		return c.recent
	}
	return c.textless
}

// add adds a session at the front of a list.
func (c *cache) add(s *Session, bytes int64, to *list.List) {
	c.entries[s.Key()] = to.PushFront(&entry{session: s, bytes: bytes, list: to})
	c.bytes += bytes
	if to == c.textless {
		c.bare += bytes
	}
}

// replace replaces the session of an entry, and moves it to the front of its list.
func (c *cache) replace(el *list.Element, s *Session, bytes int64) {
	e := el.Value.(*entry)
	c.bytes += bytes - e.bytes
	if e.list == c.textless {
		c.bare += bytes - e.bytes
	}
	e.session, e.bytes = s, bytes
	e.list.MoveToFront(el)
}

// shrink frees some bytes. Sessions without texts get most of the limit, but not all,
// so that those used now keep theirs.
func (c *cache) shrink() {
	if c.textless.Len() > 0 && (c.recent.Len() <= 1 || c.bare > c.most/8*7) {
		c.drop(c.textless.Back())
		return
	}
	el := c.recent.Back()
	e := el.Value.(*entry)
	c.drop(el)
	if !c.dropsTexts.Load() {
		return
	}
	if l := e.session.ledger.withoutTexts(e.session.Len()); l != nil {
		s := snapshot(e.session.header, l, e.session.marks)
		if bytes := int64(s.size()); bytes < e.bytes {
			c.add(s, bytes, c.textless)
		}
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

// drop removes one session.
func (c *cache) drop(el *list.Element) {
	e := el.Value.(*entry)
	e.list.Remove(el)
	delete(c.entries, e.session.Key())
	c.bytes -= e.bytes
	if e.list == c.textless {
		c.bare -= e.bytes
	}
	if len(c.entries) == 0 {
		c.entries = make(map[Key]*list.Element) // a map does not shrink
	}
}

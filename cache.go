package sequent

import (
	"container/list"
	"sync"
)

// A cache keeps the sessions used last, up to a number of bytes, and at least
// one. If the number is negative, it keeps none.
type cache struct {
	most int64

	mu      sync.Mutex // guards what follows
	bytes   int64
	entries map[Key]*list.Element // of recent, each holding an *entry
	recent  *list.List            // most recently used first
}

// An entry is a session as it was committed: the header, and a ledger that has
// at least its thoughts.
type entry struct {
	header Header
	ledger *ledger
	bytes  int64
}

func newCache(most int64) *cache {
	return &cache{most: most, entries: make(map[Key]*list.Element), recent: list.New()}
}

func (c *cache) get(k Key) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.entries[k]
	if !ok {
		return entry{}, false
	}
	c.recent.MoveToFront(el)
	return *el.Value.(*entry), true
}

// put remembers a session, unless it is known in a later version already.
func (c *cache) put(h Header, l *ledger) {
	l.mu.RLock()
	bytes := 1024 + l.bytes
	l.mu.RUnlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.entries[h.Key]; ok {
		e := el.Value.(*entry)
		if e.header.Epoch == h.Epoch && e.header.Version > h.Version {
			return
		}
		c.bytes -= e.bytes
		e.header, e.ledger, e.bytes = h, l, bytes
		c.recent.MoveToFront(el)
	} else {
		c.entries[h.Key] = c.recent.PushFront(&entry{header: h, ledger: l, bytes: bytes})
	}
	c.bytes += bytes
	// The one used last stays even if it alone is more: it had to be read whole to
	// be used, and the next to use it would have to read it again.
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

// drop forgets one session. The caller holds mu.
func (c *cache) drop(el *list.Element) {
	e := c.recent.Remove(el).(*entry)
	delete(c.entries, e.header.Key)
	c.bytes -= e.bytes
}

package sequent

import (
	"context"
	"errors"
)

// cached returns a session from the cache, or nil. Unless textless is set, it has
// all texts.
func (c *core) cached(k Key, textless bool) *Session {
	s := c.cache.get(k)
	if s != nil && !textless && !s.HasTexts(1) {
		return nil
	}
	return s
}

// load returns a session as the store has it now. It reads what the cache lacks.
func (c *core) load(ctx context.Context, k Key) (*Session, error) {
	for {
		s := c.cached(k, false)
		var have Position
		if s != nil {
			have = s.Position()
		}
		h, tail, err := c.store.Load(ctx, k, have)
		if err != nil {
			if errors.Is(err, ErrNotFound) {
				c.cache.remove(k)
			}
			return nil, err
		}
		switch {
		case s == nil || !h.Continues(have, tail):
			l, err := ledgerOf(&h, tail)
			if err != nil {
				return nil, err
			}
			var m *marks
			s = snapshot(h, l, m.with(tail, 0))
		case h.Position() != have:
			// The ledger may have thoughts that another goroutine is committing.
			// When it has released the ledger they are committed or gone.
			l := s.ledger
			l.writing.Lock()
			whole := l.extend(tail)
			l.writing.Unlock()
			if !whole {
				continue
			}
			if h.Version < have.Version { // the store has gone back to an earlier state
				c.cache.remove(k)
			}
			s = snapshot(h, l, s.marks.with(tail, s.Len()))
		}
		c.cache.put(s)
		return s, nil
	}
}

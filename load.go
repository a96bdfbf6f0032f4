package sequent

import (
	"context"
	"errors"
)

// load returns a session as the store has it now. It reads what the cache lacks.
func (c *core) load(ctx context.Context, k Key) (*Session, error) {
	for {
		s := c.cache.get(k)
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
		case s == nil || s.Epoch() != h.Epoch:
			s = snapshot(h, ledgerOf(h.Epoch, tail))
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
			s = snapshot(h, l)
		}
		c.cache.put(s)
		return s, nil
	}
}

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

// partLen is how many entries of a log are read at a time. Between two parts they are
// added to a ledger, which takes a third of their space.
const partLen = 4096

// read returns a session as the store has it now, without the cache. If textless is set,
// it drops the texts of each part before it reads the next one, but for that of the last
// thought.
func (c *core) read(ctx context.Context, k Key, textless bool) (*Session, error) {
	var l *ledger
	var m *marks
	var at Position
	for limit := partLen; ; {
		h, part, err := c.store.Load(ctx, k, at, limit)
		switch {
		case err != nil:
			return nil, err
		case l == nil:
			l = newLedger(h.Epoch)
		case !h.Continues(at, part):
			// The session was begun again, the store has gone back to an earlier state, or
			// the log is damaged. Only the whole log can tell.
			l, m, at, limit = nil, nil, Position{}, 0
			continue
		}
		m = m.with(part, at.Len)
		at = at.After(&h, part)
		whole := l.extend(part)
		if textless {
			l.dropTexts()
		}
		if !whole || limit == 0 || len(part) == 0 || at.reached(&h) {
			return sessionOf(h, l, m)
		}
	}
}

// load returns a session as the store has it now. It reads what the cache lacks. If
// textless is set, the session may lack texts.
func (c *core) load(ctx context.Context, k Key, textless bool) (s *Session, err error) {
	defer func() {
		if err == nil {
			c.cache.put(s)
		} else if errors.Is(err, ErrNotFound) {
			c.cache.remove(k)
		}
	}()
	for {
		s := c.cached(k, textless)
		if s == nil {
			return c.read(ctx, k, textless)
		}
		have := s.Position()
		h, tail, err := c.store.Load(ctx, k, have, 0)
		if err != nil {
			return nil, err
		}
		switch {
		case !h.Continues(have, tail):
			l := newLedger(h.Epoch)
			l.extend(tail)
			var m *marks
			return sessionOf(h, l, m.with(tail, 0))
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
		return s, nil
	}
}

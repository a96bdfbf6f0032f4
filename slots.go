package sequent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Slots are the sessions that this process knows: those in use, and others within a number of
// bytes.
type slots struct {
	most int64

	mu    sync.Mutex
	byKey map[Key]*slot
	bytes int64
}

// A slot is a session that this process knows. Who changes the session holds the lock.
type slot struct {
	key     Key
	locked  chan struct{}           // capacity one
	session atomic.Pointer[Session] // as committed; nil if it must be read

	// Guarded by slots.mu:
	users int
	bytes int64 // of the session when it was last used
}

// enter returns the slot of a session. The caller calls leave.
func (c *slots) enter(k Key) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	sl := c.byKey[k]
	if sl == nil {
		sl = &slot{key: k, locked: make(chan struct{}, 1)}
		c.byKey[k] = sl
	}
	sl.users++
	return sl
}

// leave ends the use of a slot, and forgets sessions beyond the limit, in no order. The one
// that was used stays even if it alone exceeds the limit: otherwise each use would read it whole.
func (c *slots) leave(sl *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sl.users--
	s := sl.session.Load()
	c.bytes -= sl.bytes
	sl.bytes = s.size()
	c.bytes += sl.bytes
	if s == nil || c.most < 0 {
		c.drop(sl)
	}
	for _, other := range c.byKey {
		if c.bytes <= c.most {
			break
		}
		if other != sl {
			c.drop(other)
		}
	}
}

// drop forgets a slot that is not in use.
func (c *slots) drop(sl *slot) {
	if sl.users == 0 {
		c.bytes -= sl.bytes
		delete(c.byKey, sl.key)
	}
}

// forget forgets the sessions that were deleted.
func (c *slots) forget(deleted func(*Header) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sl := range c.byKey {
		if s := sl.session.Load(); s != nil && deleted(&s.header) {
			sl.session.Store(nil)
			c.drop(sl)
		}
	}
}

// size estimates what a session takes in memory. A log has its texts, and about 300 bytes
// more a thought than [Header.Bytes] counts.
func (s *Session) size() int64 {
	if s == nil {
		return 0
	}
	return 1024 + s.header.Bytes + 300*int64(s.header.Entries)
}

// lock makes the caller the only one who changes the session in this process.
func (sl *slot) lock(ctx context.Context) error {
	select {
	case sl.locked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return canceled(ctx.Err())
	}
}

func (sl *slot) unlock() { <-sl.locked }

// session returns a session as the store has it now, expired or not. It reads what this
// process lacks, and does not wait for a change that is being committed.
func (c *core) session(ctx context.Context, k Key) (*Session, error) {
	sl := c.slots.enter(k)
	defer c.slots.leave(sl)
	return c.read(ctx, sl)
}

// read brings a slot up to the store.
func (c *core) read(ctx context.Context, sl *slot) (*Session, error) {
	known := sl.session.Load()
	h, tail, err := c.store.Load(ctx, sl.key, known.positionOrNone())
	if err != nil {
		if errors.Is(err, ErrNotFound) {
			sl.session.CompareAndSwap(known, nil)
		}
		return nil, err
	}
	s := known.with(h, tail)
	sl.session.CompareAndSwap(known, s)
	return s, nil
}

func (s *Session) positionOrNone() Position {
	if s == nil || s.fault != nil {
		return Position{}
	}
	return s.header.Position()
}

// with returns the session with a header that a store has, and the entries that s lacks, or
// all if they do not continue s. A session whose entries or header are not what was recorded
// has a fault, and the thoughts up to the first that cannot be there.
func (s *Session) with(h Header, tail []Entry) *Session {
	have := s.positionOrNone()
	if s != nil && have == h.Position() {
		return s
	}
	next := &Session{header: h}
	var v Verification
	if have.Entries > 0 && h.Continues(have, tail) {
		next.log, next.notes, next.decisions = s.log, s.notes, s.decisions
		v = Verification{Entries: have.Entries, Head: have.Head, thoughts: s.Len()}
	} else {
		next.log = newLedger(len(tail))
	}
	had := v.thoughts
	v.verify(&h, tail)
	next.fault = v.Fault
	n := had
	for i := range tail {
		t := &tail[i].Thought
		if tail[i].Kind != KindThought {
			continue
		}
		if t.Seq != n+1 || t.After < 0 || t.After > n || t.Supersedes < 0 || t.Supersedes > n {
			tail = tail[:i] // what follows may be about thoughts that are missing
			break
		}
		next.log = next.log.with(*t)
		n++
	}
	next.mark(tail, had)
	next.header.Len = n
	if s != nil && (had == 0 || s.lost != nil) {
		next.lost = s.lostIn(next)
	}
	return next
}

// lostIn returns the numbers of the thoughts that s has and a later reading lacks, because the
// store was put back to an earlier state, with those that s lacks already. The next change notes
// them in the log, so there are none if another process has done that.
func (s *Session) lostIn(next *Session) []int {
	if s.Epoch() != next.Epoch() || slices.ContainsFunc(next.notes, func(n Note) bool {
		return n.From == FromStore && !slices.ContainsFunc(s.notes, func(had Note) bool { return had.Seq == n.Seq && had.At.Equal(n.At) })
	}) {
		return nil
	}
	lost := slices.Clone(s.lost)
	for t := range s.All() {
		if now, ok := next.At(t.Seq); !ok || !now.At.Equal(t.At) || !sameThought(now, t) {
			lost = append(lost, t.Number)
		}
	}
	return lost
}

// FromStore is [Note.From] of a note of the engine, on the last thought that is left, about
// thoughts that are gone because the store was put back to an earlier state.
const FromStore = "the store"

// noteLoss notes what the store has lost since base, before what the change adds to the log.
func (c *Change) noteLoss(base *Session) {
	s := c.own()
	n := Note{Seq: base.Len(), Kind: Remark, From: FromStore, At: c.now, Text: fmt.Sprintf(
		"the store was put back to an earlier state; these thoughts were acknowledged and are gone: %s; record them again if they still hold", Ranges(s.lost))}
	s.lost = nil
	if n.Seq == 0 || exceeds(len(base.notes)+len(base.decisions)+1, c.limits.Thoughts) {
		return
	}
	c.added = slices.Insert(c.added, 0, n.entry())
	s.header.Notes++
	s.notes, s.decisions = base.notes, base.decisions
	s.mark(c.added, base.Len())
}

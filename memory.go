package sequent

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/wake"
)

// A MemoryStore is a [Store] that forgets everything when the program ends.
// The zero MemoryStore is empty and ready for use.
type MemoryStore struct {
	mu       sync.RWMutex
	sessions map[Key]*memSession
	hub      wake.Hub[Key] // the zero Key is woken by every change
}

// A memSession is a stored session. What header.Len says of its log never changes.
type memSession struct {
	header Header
	log    pages
	shared bool // an engine has the log, too, and writes beyond header.Len
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return new(MemoryStore) }

// Load implements [Store].
func (m *MemoryStore) Load(ctx context.Context, k Key, have Position) (Header, []Thought, error) {
	if err := ctx.Err(); err != nil {
		return Header{}, nil, canceled(err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, ok := m.sessions[k]
	if !ok {
		return Header{}, nil, notFound(k.ID)
	}
	return s.header, s.beyond(have), nil
}

func (s *memSession) beyond(have Position) []Thought {
	if have.Epoch != s.header.Epoch {
		have.Len = 0
	}
	return slices.Collect(s.log.slice(have.Len, s.header.Len))
}

// Commit implements [Store].
func (m *MemoryStore) Commit(ctx context.Context, batch []*Write) error {
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range batch {
		m.commit(w)
	}
	return nil
}

// commit applies one write. The caller holds mu.
func (m *MemoryStore) commit(w *Write) {
	k := w.Header.Key
	s, exists := m.sessions[k]
	var now Position
	if exists {
		now = s.header.Position()
	}
	if now != w.Base {
		var h Header
		var tail []Thought
		if exists {
			h, tail = s.header, s.beyond(w.Base)
		}
		if !w.Rebase(h, exists, tail) {
			return
		}
	}
	if !exists {
		if m.sessions == nil {
			m.sessions = make(map[Key]*memSession)
		}
		s = new(memSession)
		m.sessions[k] = s
	}
	s.record(w)
	s.header = w.Header
	m.wake(k)
}

// record takes over the thoughts of a write.
func (s *memSession) record(w *Write) {
	if w.log != nil {
		s.log, s.shared = w.log, true
		return
	}
	if s.shared {
		s.log, s.shared = s.log.cut(s.header.Len), false
	}
	for i := range w.Thoughts {
		s.log.set(w.Thoughts[i].Seq-1, newRecord(&w.Thoughts[i], nil))
	}
}

func (m *MemoryStore) wake(k Key) {
	m.hub.Wake(k)
	m.hub.Wake(Key{})
}

// Delete implements [Store].
func (m *MemoryStore) Delete(ctx context.Context, k Key, epoch int64) error {
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[k]
	if !ok || epoch != 0 && s.header.Epoch != epoch {
		return notFound(k.ID)
	}
	delete(m.sessions, k)
	m.wake(k)
	return nil
}

// Sweep implements [Store].
func (m *MemoryStore) Sweep(ctx context.Context, q SweepQuery, limit int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for k, s := range m.sessions {
		if n == limit {
			break
		}
		h := &s.header
		switch {
		case !q.AllOwners && h.Owner != q.Owner,
			!q.Expired.IsZero() && !h.Expired(q.Expired),
			!q.Before.IsZero() && !h.Updated.Before(q.Before):
		default:
			delete(m.sessions, k)
			m.wake(k)
			n++
		}
	}
	return n, nil
}

// List implements [Store]. It costs as much as there are sessions.
func (m *MemoryStore) List(ctx context.Context, q Query) (Page, error) {
	if err := ctx.Err(); err != nil {
		return Page{}, canceled(err)
	}
	stamp := func(h *Header) time.Time {
		if q.ByCreated {
			return h.Created
		}
		return h.Updated
	}
	order := func(a, b Header) int { // newest first; ties by epoch and key
		return cmp.Or(
			stamp(&b).Compare(stamp(&a)),
			cmp.Compare(b.Epoch, a.Epoch),
			cmp.Compare(a.Owner, b.Owner),
			cmp.Compare(a.ID, b.ID),
		)
	}
	after, err := parseMemoryCursor(q)
	if err != nil {
		return Page{}, err
	}
	var found []Header
	m.mu.RLock()
	for _, s := range m.sessions {
		h := s.header
		switch {
		case !q.AllOwners && h.Owner != q.Owner,
			q.Scope != "" && h.Scope != q.Scope,
			h.Updated.Before(q.Since),
			!q.Now.IsZero() && h.Expired(q.Now),
			after != nil && order(*after, h) >= 0:
		default:
			found = append(found, h)
		}
	}
	m.mu.RUnlock()
	slices.SortFunc(found, order)
	limit := cmp.Or(q.Limit, 100)
	for i := range found[:min(limit, len(found))] {
		found[i].Labels = maps.Clone(found[i].Labels)
	}
	if len(found) <= limit {
		return Page{Headers: found}, nil
	}
	last := found[limit-1]
	next := base64.RawURLEncoding.EncodeToString(
		fmt.Appendf(nil, memoryCursor, stamp(&last).UnixMicro(), last.Epoch, last.Owner, last.ID))
	return Page{Headers: found[:limit:limit], Next: next}, nil
}

// memoryCursor holds what the order of a listing looks at.
const memoryCursor = "%d %d %q %q"

// parseMemoryCursor returns the last header of the page before, as far as the
// order needs it; nil for the first page.
func parseMemoryCursor(q Query) (*Header, error) {
	if q.Cursor == "" {
		return nil, nil
	}
	var micros int64
	h := new(Header)
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(b), memoryCursor, &micros, &h.Epoch, &h.Owner, &h.ID)
	}
	if err != nil {
		return nil, &Error{
			Code: CodeInvalidQuery, Field: "cursor",
			Msg: "the cursor does not belong to this listing",
			Fix: "pass the cursor of the previous page, or none",
		}
	}
	h.Created, h.Updated = time.UnixMicro(micros), time.UnixMicro(micros)
	return h, nil
}

// Wait implements [Store].
func (m *MemoryStore) Wait(ctx context.Context, k Key, have Position) error {
	sub := m.hub.Subscribe(k)
	defer sub.Close()
	if k != (Key{}) {
		m.mu.RLock()
		s, ok := m.sessions[k]
		moved := ok && s.header.Position() != have || !ok && have != (Position{})
		m.mu.RUnlock()
		if moved {
			return nil
		}
	}
	if err := sub.Wait(ctx); err != nil {
		return canceled(err)
	}
	return nil
}

// Close implements [Store]. It does nothing.
func (m *MemoryStore) Close() error { return nil }

func notFound(id ID) error {
	return &Error{
		Code: CodeSessionNotFound, Field: "sessionId",
		Msg: fmt.Sprintf("there is no session %q", id),
		Fix: "check the id, or begin a new session",
	}
}

func canceled(err error) error {
	return &Error{Code: CodeCanceled, Msg: "the call was cancelled", Err: err}
}

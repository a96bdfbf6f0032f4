package sequent

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent/internal/wake"
)

// A MemoryStore is a [Store] that forgets everything when the program ends.
// The zero MemoryStore is empty and ready for use.
type MemoryStore struct {
	mu       sync.RWMutex // guards what follows, but for hub
	sessions map[Key]*memSession
	all      catalog
	owners   map[string]*catalog
	scopes   map[scopeKey]*order // by creation
	hub      wake.Hub[Key]       // the zero Key is woken by every change
}

// A memSession is a stored session. What header.Len says of its log never changes.
type memSession struct {
	header Header
	log    pages
	shared bool // an engine has the log, too, and writes beyond header.Len

	catalog *catalog // of its owner; nil before its first header
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
	m.set(s, w.Header)
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
	m.delete(s)
	return nil
}

// delete removes a session. The caller holds mu.
func (m *MemoryStore) delete(s *memSession) {
	m.unlist(s)
	delete(m.sessions, s.header.Key)
	if len(m.sessions) == 0 {
		m.sessions = nil // a map does not shrink
	}
	m.wake(s.header.Key)
}

// Sweep implements [Store].
func (m *MemoryStore) Sweep(ctx context.Context, q SweepQuery, limit int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, s := range m.sessions {
		if n == limit {
			break
		}
		if q.selects(&s.header) {
			m.delete(s)
			n++
		}
	}
	return n, nil
}

// List implements [Store]. It reads the sessions of the owner from the newest
// on, or those of the scope, until the page is full.
func (m *MemoryStore) List(ctx context.Context, q Query) (Page, error) {
	if err := ctx.Err(); err != nil {
		return Page{}, canceled(err)
	}
	page, _, err := m.page(q)
	return page, err
}

// page returns a page of a listing and how many sessions were read for it.
func (m *MemoryStore) page(q Query) (page Page, read int, err error) {
	after, err := parseMemoryCursor(q)
	if err != nil {
		return Page{}, 0, err
	}
	limit := q.PageSize()
	m.mu.RLock()
	defer m.mu.RUnlock()
	var last place
	for p := range m.ordered(q).before(after) {
		read++
		h := &p.session.header
		old := h.Updated.Before(q.Since)
		if old && !q.ByCreated {
			break
		}
		if old || q.Scope != "" && h.Scope != q.Scope || !q.Now.IsZero() && h.Expired(q.Now) {
			continue
		}
		if len(page.Headers) == limit {
			page.Next = memoryCursor(q, last)
			break
		}
		last = p
		page.Headers = append(page.Headers, *h)
		page.Headers[len(page.Headers)-1].Labels = maps.Clone(h.Labels)
	}
	return page, read, nil
}

// memoryCursorFormat has the order of a listing and the place of a session in it.
const memoryCursorFormat = "%t %d %d %q %q"

// memoryCursor returns the cursor of the page after p.
func memoryCursor(q Query, p place) string {
	h := &p.session.header
	return base64.RawURLEncoding.EncodeToString(
		fmt.Appendf(nil, memoryCursorFormat, q.ByCreated, p.at, h.Epoch, h.Owner, h.ID))
}

// parseMemoryCursor returns the place of the last session of the previous page,
// nil for the first page.
func parseMemoryCursor(q Query) (*place, error) {
	if q.Cursor == "" {
		return nil, nil
	}
	p := &place{session: new(memSession)}
	h := &p.session.header
	var byCreated bool
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(b), memoryCursorFormat, &byCreated, &p.at, &h.Epoch, &h.Owner, &h.ID)
	}
	if err != nil || byCreated != q.ByCreated {
		return nil, &Error{
			Code: CodeInvalidQuery, Field: "cursor",
			Msg: "the cursor does not belong to this listing",
			Fix: "pass the cursor of the previous page, or none",
		}
	}
	return p, nil
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

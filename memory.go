package sequent

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"sync"
)

// A MemoryStore is a [Store] that forgets everything when the program ends.
// The zero MemoryStore is empty and ready for use.
type MemoryStore struct {
	mu       sync.RWMutex // guards what follows, but for feed
	sessions map[Key]*memSession
	all      catalog
	owners   map[string]*catalog
	scopes   map[scopeKey]*order // by creation
	feed     Feed
	refused  map[string]int64      // by owner
	shares   map[[32]byte]memShare // by hash
	tickets  map[[32]byte]Ticket
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return new(MemoryStore) }

// Load implements [Store].
func (m *MemoryStore) Load(ctx context.Context, k Key, have Position, limit int) (Header, []Entry, error) {
	if err := ctx.Err(); err != nil {
		return Header{}, nil, canceled(err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, ok := m.sessions[k]
	if !ok {
		return Header{}, nil, notFound(k.ID)
	}
	return s.header, s.beyond(have, limit), nil
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
		var tail []Entry
		if exists {
			h, tail = s.header, s.beyond(w.Base, 0)
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
	m.feed.Written(k)
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
	m.feed.Touched(s.header.Key.Topic())
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
		before := h.Created.Before(q.Begun)
		if old && !q.ByCreated || before && q.ByCreated {
			break
		}
		if old || before || !p.session.begunBy(q.Request) || !h.Context.InProject(q.Project) || q.Elsewhere != "" && h.Context.InProject(q.Elsewhere) || q.Scope != "" && h.Scope != q.Scope || !q.Now.IsZero() && h.Expired(q.Now) {
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

// begunBy reports whether r is the request of the first thought, or has no key.
func (s *memSession) begunBy(r Request) bool {
	if r.Key == "" {
		return true
	}
	for t := range s.log.slice(0, min(s.header.Len, 1)) {
		return t.Request == r
	}
	return false
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

// Watch implements [Store].
func (m *MemoryStore) Watch(ctx context.Context) (*Watch, error) {
	if err := ctx.Err(); err != nil {
		return nil, canceled(err)
	}
	return m.feed.Watch(), nil
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

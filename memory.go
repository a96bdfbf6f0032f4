package sequent

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"
)

// A memoryStore is what [NewMemoryStore] returns.
type memoryStore struct {
	mu       sync.RWMutex // guards what follows, but for feed
	sessions map[Key]*memSession
	values   map[string]memValue
	feed     Feed
}

// A memSession is a stored session. What header.Entries says of its log never changes.
type memSession struct {
	header Header
	log    []Entry
}

type memValue struct {
	value   []byte
	expires time.Time
}

// NewMemoryStore returns an empty store, which forgets everything when the program ends. It can do what any
// store can: [Searcher] and [Sweeper] by reading everything.
func NewMemoryStore() Store { return new(memoryStore) }

func (m *memoryStore) Load(ctx context.Context, k Key, have Position) (Header, []Entry, error) {
	if err := ctx.Err(); err != nil {
		return Header{}, nil, canceled(err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, ok := m.sessions[k]
	if !ok {
		return Header{}, nil, NotFound(k.ID)
	}
	return s.header, s.beyond(have), nil
}

// beyond returns the entries that a reader at a position lacks, or all if they do not
// continue it.
func (s *memSession) beyond(have Position) []Entry {
	if have.Epoch == s.header.Epoch && have.Entries <= len(s.log) {
		if tail := s.log[have.Entries:]; s.header.Continues(have, tail) {
			return tail
		}
	}
	return s.log
}

func (m *memoryStore) Commit(ctx context.Context, batch []*Write) error {
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
func (m *memoryStore) commit(w *Write) {
	k := w.Header.Key
	s := m.sessions[k]
	if s == nil {
		s = new(memSession)
	}
	if s.header.Position() != w.Base && !w.Rebase(s.header, s.beyond(w.Base)) {
		return
	}
	s.log = append(s.log, w.Entries...)
	s.header = w.Header
	if m.sessions == nil {
		m.sessions = make(map[Key]*memSession)
	}
	m.sessions[k] = s
	m.feed.Touched(k.Topic())
}

func (m *memoryStore) Delete(ctx context.Context, k Key, epoch int64) error {
	if err := ctx.Err(); err != nil {
		return canceled(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[k]
	if !ok || epoch != 0 && s.header.Epoch != epoch {
		return NotFound(k.ID)
	}
	if delete(m.sessions, k); len(m.sessions) == 0 {
		m.sessions = nil // a map does not shrink
	}
	m.feed.Touched(k.Topic())
	return nil
}

func (m *memoryStore) List(ctx context.Context, q Query) (Page, error) {
	if err := ctx.Err(); err != nil {
		return Page{}, canceled(err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return q.Page(func(yield func(*Header) bool) {
		for _, s := range m.sessions {
			if !yield(&s.header) {
				return
			}
		}
	})
}

func (m *memoryStore) Watch(ctx context.Context) (*Watch, error) {
	if err := ctx.Err(); err != nil {
		return nil, canceled(err)
	}
	return m.feed.Watch(), nil
}

func (m *memoryStore) PutValue(_ context.Context, name string, value []byte, expires time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.values, func(_ string, v memValue) bool { return !v.expires.After(time.Now()) })
	if m.values == nil {
		m.values = make(map[string]memValue)
	}
	m.values[name] = memValue{value, expires}
	return nil
}

func (m *memoryStore) ValuesOf(_ context.Context, prefix string) (map[string][]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	found := make(map[string][]byte)
	for name, v := range m.values {
		if strings.HasPrefix(name, prefix) {
			found[name] = v.value
		}
	}
	return found, nil
}

func (m *memoryStore) TakeValue(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.values[name]
	delete(m.values, name)
	return v.value, nil
}

func (m *memoryStore) Close() error { return nil }

// NotFound returns the error of a store for a session that does not exist. It matches
// [ErrNotFound].
func NotFound(id ID) error {
	return Errorf(CodeSessionNotFound, "sessionId", "check the id, or begin a new session", "there is no session %q", id)
}

func canceled(err error) error {
	return &Error{Code: CodeCanceled, Msg: "the call was cancelled", Err: err}
}

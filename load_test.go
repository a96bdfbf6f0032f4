package sequent

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// A partStore counts the calls of Load that return entries, and changes what they return.
type partStore struct {
	copying
	parts   atomic.Int64
	longest atomic.Int64
	change  func(call int64, have Position, h *Header, part []Entry)
}

func (s *partStore) Load(ctx context.Context, k Key, have Position, limit int) (Header, []Entry, error) {
	h, part, err := s.copying.Load(ctx, k, have, limit)
	if len(part) > 0 {
		s.parts.Add(1)
		s.longest.Store(max(s.longest.Load(), int64(len(part))))
	}
	if s.change != nil {
		s.change(s.parts.Load(), have, &h, part)
	}
	return h, part, err
}

// longSession records a session of several parts, with a change of the header between them.
func longSession(t *testing.T, s Store) *Session {
	t.Helper()
	const thoughts = 2*partLen + 100
	var last *Session
	for n := 0; n < thoughts; {
		var err error
		if last, err = New(Config{Store: s}).Ensure(t.Context(), "long", func(c *Change) error {
			for range min(500, thoughts-n) {
				n++
				if _, err := c.Append(Draft{Number: n, Text: fmt.Sprint("thought ", n), Branch: []string{"", "b"}[n%2], More: true}); err != nil {
					return err
				}
			}
			c.SetTitle(fmt.Sprint("with ", n))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

// sameSession fails the test unless two sessions have the same header and thoughts.
func sameSession(t *testing.T, got, want *Session) {
	t.Helper()
	if fmt.Sprint(got.Header()) != fmt.Sprint(want.Header()) {
		t.Errorf("the header is %+v, want %+v", got.Header(), want.Header())
	}
	for seq := 1; seq <= want.Len(); seq++ {
		a, _ := got.At(seq)
		b, _ := want.At(seq)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("thought %d is %v, want %v", seq, a, b)
		}
	}
	if a, b := got.NextNumber("b"), want.NextNumber("b"); a != b {
		t.Errorf("the next number of the branch is %d, want %d", a, b)
	}
}

// TestLoadInParts reads a long session without having it in memory twice.
func TestLoadInParts(t *testing.T) {
	store := new(partStore)
	want := longSession(t, store)
	store.parts.Store(0)
	store.longest.Store(0)
	got, err := New(Config{Store: store}).Session(t.Context(), "long")
	if err != nil {
		t.Fatal(err)
	}
	sameSession(t, got, want)
	if store.parts.Load() != 3 || store.longest.Load() > partLen {
		t.Errorf("the session was read in %d parts of at most %d entries, want 3 of %d", store.parts.Load(), store.longest.Load(), partLen)
	}
}

// TestLoadInPartsDamaged reads a session of which the first thought of the second part was
// altered. Reading does not end without a result, and Verify finds the thought.
func TestLoadInPartsDamaged(t *testing.T) {
	store := new(partStore)
	want := longSession(t, store)
	store.change = func(_ int64, _ Position, _ *Header, part []Entry) {
		for i := range part {
			if part[i].Place == partLen+1 {
				part[i].Thought.Text = "altered"
			}
		}
	}
	e := New(Config{Store: store})
	s, err := e.Session(t.Context(), "long")
	if err != nil || s.Len() != want.Len() {
		t.Fatalf("Session = %d thoughts, %v, want %d", s.Len(), err, want.Len())
	}
	v, err := e.Verify(t.Context(), "long")
	if err != nil || v.Fault == nil || v.Fault.Kind != FaultAltered || v.Fault.Place != partLen+1 {
		t.Errorf("Verify = %+v, %v, want entry %d altered", v.Fault, err, partLen+1)
	}
}

// TestLoadInPartsOfAnotherSession deletes the session between two parts and begins it
// again.
func TestLoadInPartsOfAnotherSession(t *testing.T) {
	store := new(partStore)
	longSession(t, store)
	var again *Session
	store.change = func(call int64, _ Position, _ *Header, _ []Entry) {
		if call != 1 {
			return
		}
		e := New(Config{Store: &store.MemoryStore})
		if err := e.Delete(t.Context(), "long"); err != nil {
			t.Fatal(err)
		}
		again = longSession(t, &store.MemoryStore)
	}
	store.parts.Store(0)
	got, err := New(Config{Store: store}).Session(t.Context(), "long")
	if err != nil {
		t.Fatal(err)
	}
	sameSession(t, got, again)
}

// TestLoadInPartsIncomplete reads a session of which thoughts are missing.
func TestLoadInPartsIncomplete(t *testing.T) {
	store := new(partStore)
	longSession(t, store)
	store.change = func(_ int64, have Position, h *Header, _ []Entry) { h.Len++ }
	_, err := New(Config{Store: store}).Session(t.Context(), "long")
	if CodeOf(err) != CodeCorrupt || !strings.Contains(err.Error(), "missing") {
		t.Errorf("Session of a store that lacks a thought: %v, want %s", err, CodeCorrupt)
	}
}

package sequent

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A countingStore counts the calls of Load, which returns strings of its own.
type countingStore struct {
	copying
	loads atomic.Int64
}

func (s *countingStore) Load(ctx context.Context, k Key, have Position, limit int) (Header, []Entry, error) {
	s.loads.Add(1)
	return s.copying.Load(ctx, k, have, limit)
}

// textOf is the text of a thought of a session.
func textOf(session, n int) string { return fmt.Sprintf("session %d thought %d %0500d", session, n, n) }

// add appends a thought with a request key, on every third call to a branch.
func add(t testing.TB, e *Engine, session, n int) *Session {
	t.Helper()
	s, err := e.Ensure(t.Context(), ID(fmt.Sprint(session)), func(c *Change) error {
		d := Draft{Number: n, Text: textOf(session, n), Note: fmt.Sprintf("note %0100d", n), More: true, Request: Request{Key: fmt.Sprint("key ", n)}}
		if n%3 == 0 {
			d.Branch = "b"
		}
		if n > 5 {
			d.Revises = To(n - 3)
		}
		_, err := c.Append(d)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Appends to many more sessions than the cache can keep whole read nothing, and what
// they see of the sessions is complete but for texts.
func TestWithoutTexts(t *testing.T) {
	const sessions, thoughts = 40, 100 // 2.7 MB of texts and notes
	store := new(countingStore)
	full := New(Config{Store: store, CacheBytes: 3 << 19})
	e := full.WithoutTexts()
	for n := 1; n <= thoughts; n++ {
		for id := range sessions {
			add(t, e, id, n)
		}
	}
	before := store.loads.Load()
	for n := thoughts + 1; n <= thoughts+5; n++ {
		for id := range sessions {
			s := add(t, e, id, n)
			if last, _ := s.Last(); last.Text != textOf(id, n) {
				t.Fatalf("the text of the last thought is %q", last.Text)
			}
			if p, _ := s.At(n - 1); p.Text != textOf(id, n-1) || !s.HasTexts(n-1) {
				t.Fatalf("the text of the previous thought is %q", p.Text)
			}
		}
	}
	if n := store.loads.Load() - before; n > 0 {
		t.Errorf("%d appends read sessions %d times", 5*sessions, n)
	}
	withoutTexts := 0
	for id := range sessions {
		want, err := New(Config{Store: store}).Session(t.Context(), ID(fmt.Sprint(id)))
		if err != nil {
			t.Fatal(err)
		}
		check := func(s *Session) {
			t.Helper()
			if !s.HasTexts(1) {
				withoutTexts++
			}
			if s.Len() != want.Len() || !slices.Equal(s.Branches(), want.Branches()) || s.NextNumber("b") != want.NextNumber("b") {
				t.Fatalf("session %d has %d thoughts, branches %q", id, s.Len(), s.Branches())
			}
			for seq := 1; seq <= want.Len(); seq++ {
				got, _ := s.At(seq)
				exp, _ := want.At(seq)
				if !s.HasTexts(seq) {
					exp.Text, exp.Note = "", ""
				}
				if fmt.Sprint(got) != fmt.Sprint(exp) {
					t.Fatalf("thought %d is %v, want %v", seq, got, exp)
				}
				if r, ok := s.Recorded(exp.Request.Key); !ok || r.Seq != seq {
					t.Fatalf("Recorded(%s) = %v, %v", exp.Request.Key, r, ok)
				}
				if a, ok := s.Find(exp.Branch, exp.Number); !ok || a.Seq != seq {
					t.Fatalf("Find(%s, %d) = %v, %v", exp.Branch, exp.Number, a, ok)
				}
			}
		}
		if _, err := e.Update(t.Context(), want.ID(), func(c *Change) error { check(c.Session()); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if withoutTexts < sessions/2 {
		t.Errorf("%d of %d sessions are without texts; the test needs more", withoutTexts, sessions)
	}
	// Other callers get all texts.
	for id := range sessions {
		id := ID(fmt.Sprint(id))
		s, err := full.Session(t.Context(), id)
		if err != nil || !s.HasTexts(1) {
			t.Fatalf("Session(%s) has all texts: %v, %v", id, s.HasTexts(1), err)
		}
		for th := range s.All() {
			if !strings.HasPrefix(th.Text, fmt.Sprintf("session %s thought %d ", id, th.Seq)) || th.Note == "" {
				t.Fatalf("session %s: thought %d has the text %q", id, th.Seq, th.Text)
			}
		}
	}
	for id := range sessions {
		if s := add(t, full, id, thoughts+6); !s.HasTexts(1) {
			t.Fatalf("session %d, changed by the engine with texts, lacks them", id)
		}
	}
}

// Callers with and without texts append to the same sessions at the same time.
func TestWithoutTextsConcurrently(t *testing.T) {
	store := new(countingStore)
	full := New(Config{Store: store, CacheBytes: 1 << 17})
	bare := full.WithoutTexts()
	const sessions, writers, each = 8, 4, 50
	var wg sync.WaitGroup
	for w := range writers {
		e := full
		if w%2 == 0 {
			e = bare
		}
		wg.Go(func() {
			for i := range sessions * each {
				id := i % sessions
				s, err := e.Ensure(t.Context(), ID(fmt.Sprint(id)), func(c *Change) error {
					if w%2 == 1 && !c.Session().HasTexts(1) {
						return fmt.Errorf("a change function lacks texts")
					}
					n := c.Session().Len() + 1
					_, err := c.Append(Draft{Number: n, Text: textOf(id, n), More: true})
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				if w%2 == 1 {
					for th := range s.All() {
						if th.Text != textOf(id, th.Seq) {
							t.Errorf("session %d: thought %d has the text %q", id, th.Seq, th.Text)
							return
						}
					}
				}
			}
		})
	}
	wg.Wait()
	for id := range sessions {
		s, err := New(Config{Store: store}).Session(t.Context(), ID(fmt.Sprint(id)))
		if err != nil || s.Len() != writers*each {
			t.Fatalf("session %d has %d thoughts, %v", id, s.Len(), err)
		}
		for th := range s.All() {
			if th.Text != textOf(id, th.Seq) {
				t.Fatalf("session %d: thought %d is stored with the text %q", id, th.Seq, th.Text)
			}
		}
	}
}

// TestCacheBytesWithoutTexts measures what the cache takes in memory when it has
// dropped most texts.
func TestCacheBytesWithoutTexts(t *testing.T) {
	for name, draft := range map[string]func(i int) Draft{
		"texts": func(i int) Draft { return Draft{Text: fmt.Sprintf("%0300d", i)} },
		"notes": func(i int) Draft { return Draft{Text: "a", Note: fmt.Sprintf("%0500d", i)} },
		"request keys": func(i int) Draft {
			return Draft{Text: fmt.Sprintf("%0400d", i), Request: Request{Key: fmt.Sprintf("%036d", i), Digest: fmt.Sprintf("%032d", i)}}
		},
		"branches": func(i int) Draft { return Draft{Text: fmt.Sprintf("%0400d", i), Branch: fmt.Sprint("branch ", i/10)} },
	} {
		t.Run(name, func(t *testing.T) {
			const most = 8 << 20
			e := New(Config{Store: new(forgetful), CacheBytes: most}).WithoutTexts()
			for i := 0; len(e.cache.entries) > i-1-i/4; i++ { // until a quarter has been forgotten
				if _, err := e.Begin(t.Context(), ID(fmt.Sprintf("session-%08d", i)), func(c *Change) error {
					for n := range 100 {
						d := draft(n)
						d.Number, d.Total, d.More = n+1, 100, true
						if _, err := c.Append(d); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			if n := e.cache.textless.Len(); n < e.cache.recent.Len() {
				t.Fatalf("%d sessions are without texts, %d with", n, e.cache.recent.Len())
			}
			full := heap()
			e.cache = nil
			took := full - heap()
			if ratio := float64(took) / most; ratio < 0.8 || ratio > 1.2 {
				t.Errorf("the sessions take %d bytes, %.2f of the bound", took, ratio)
			}
			runtime.KeepAlive(e)
		})
	}
}

// A search keeps no texts of the sessions that it finds, and a thought that replaces a hit
// has its text nevertheless.
func TestSearchKeepsNoTexts(t *testing.T) {
	const thoughts = partLen + 100
	store := new(countingStore)
	writer := New(Config{Store: store})
	if _, err := writer.Ensure(t.Context(), "0", func(c *Change) error {
		for n := 1; n <= thoughts; n++ {
			d := Draft{Number: n, Text: textOf(0, n), Note: "a note", More: true}
			if n%10 == 0 {
				d.Branch = "b"
			}
			if n == thoughts-5 {
				d.Revises = To(7)
			}
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	find := func(e *Engine, text string) Hit {
		t.Helper()
		found, err := e.Search(t.Context(), SearchQuery{Text: text})
		if err != nil || len(found.Hits) != 1 {
			t.Fatalf("Search(%s) = %+v, %v, want one hit", text, found, err)
		}
		return found.Hits[0]
	}
	e := New(Config{Store: store})
	if h := find(e, `"thought 8"`); h.Standing.State != Current || h.Thought.Text != textOf(0, 8) {
		t.Errorf("found %+v, want thought 8, current", h)
	}
	s := e.cache.get(Key{ID: "0"})
	whole, err := writer.Session(t.Context(), "0")
	if err != nil {
		t.Fatal(err)
	}
	want := whole.ledger.withoutTexts(thoughts)
	if s == nil || s.ledger.textless != thoughts-1 {
		t.Fatal("the cache has the texts")
	}
	if got := s.ledger.bytes; got < want.bytes || got > want.bytes+want.bytes/10 { // a copy has no spare room
		t.Errorf("the session has %d bytes, a copy without texts %d", got, want.bytes)
	}
	if !slices.Equal(s.Standings(), whole.Standings()) {
		t.Error("the standings without texts are others")
	}
	before := store.loads.Load()
	find(e, `"thought 9"`)
	if n := store.loads.Load() - before; n != 1 {
		t.Errorf("the second search read %d times, want once for what is new", n)
	}
	if h := find(e, `"thought 7"`); h.Standing.By != thoughts-5 || h.Instead == nil || h.Instead.Text != textOf(0, thoughts-5) {
		t.Errorf("found %+v, instead of it %+v; want thought %d with its text", h, h.Instead, thoughts-5)
	}
}

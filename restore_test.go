package sequent_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

var restoredAt = time.Date(2025, 4, 28, 14, 53, 2, 123_456_000, time.UTC)

// grownAt returns an engine whose clock advances by a second with each reading, and a session of
// n thoughts on it.
func grownAt(t testing.TB, n int) *sequent.Session {
	t.Helper()
	now := restoredAt
	e := sequent.New(sequent.Config{Now: func() time.Time { now = now.Add(time.Second); return now }})
	drafts := []sequent.Draft{plain(1), plain(2), revises(3, 1), on("b", from(2, plain(3))), on("b", plain(4)), plain(4)}
	for i := range n {
		d := drafts[i%len(drafts)]
		d.Text = fmt.Sprintf("%d", i)
		ensure(t, e, "s", d)
	}
	s, err := e.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func restore(e *sequent.Engine, t testing.TB, s *sequent.Session) (sequent.Restored, error) {
	return e.Restore(t.Context(), s.Header(), sequent.Entries(s.Thoughts()))
}

func TestRestore(t *testing.T) {
	whole := grownAt(t, 9)
	e := sequent.New(sequent.Config{})
	check := func(what string, h sequent.Header, s *sequent.Session, want sequent.Restored, length int) {
		t.Helper()
		got, err := e.Restore(t.Context(), h, sequent.Entries(s.Thoughts()))
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", what, got, err, want)
		}
		now, err := e.Session(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if now.Len() != length || fmt.Sprint(now.Thoughts()) != fmt.Sprint(slices.Collect(whole.Upto(length).All())) {
			t.Errorf("%s: the log is %v", what, now.Thoughts())
		}
		if f, ok := now.Find("", 1); !ok || f.Seq != 7 && length > 6 {
			t.Errorf("%s: number 1 is found at %d", what, f.Seq)
		}
	}
	early := whole.Upto(5)
	earlier := early.Header()
	earlier.Scope = "standard/" + strings.Repeat("é", 128) // the longest that a dialect can give
	earlier.Updated = restoredAt.Add(time.Minute)
	check("new", earlier, early, sequent.RestoredNew, 5)
	check("again", earlier, early, sequent.RestoredNothing, 5)
	check("shorter", whole.Header(), whole.Upto(3), sequent.RestoredNothing, 5)
	check("longer", whole.Header(), whole, sequent.RestoredMore, 9)
	check("the earlier one again", earlier, early, sequent.RestoredNothing, 9)

	changed := grownAt(t, 9)
	h := changed.Header()
	h.State, h.Conclusion = sequent.Cancelled, "never mind"
	check("an older header", h, changed, sequent.RestoredNothing, 9)
	h.Updated = time.Now()
	check("a newer header", h, changed, sequent.RestoredMore, 9)
	s, _ := e.Session(t.Context(), "s")
	if s.State() != sequent.Cancelled || s.Conclusion() != "never mind" || !s.Created().Equal(whole.Created()) {
		t.Errorf("the header is %+v", s.Header())
	}

	// A session that has continued here is left alone, and an engine that knows the session
	// notices what was restored.
	ensure(t, e, "s", plain(10))
	if got, err := restore(e, t, whole); got != sequent.RestoredNothing || err != nil {
		t.Errorf("gone on: %v, %v", got, err)
	}
	other := grownAt(t, 9)
	log := other.Thoughts()
	log[4].Text = "something else"
	if _, err := e.Restore(t.Context(), other.Header(), sequent.Entries(log)); !errors.Is(err, sequent.ErrExists) || !strings.Contains(err.Error(), "from thought 5") {
		t.Errorf("another session: %v", err)
	}
	// To another owner it does not exist.
	if got, err := restore(e.Owned("alice"), t, whole); got != sequent.RestoredNew || err != nil {
		t.Errorf("another owner: %v, %v", got, err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	type change = func(h *sequent.Header, log []sequent.Thought) []sequent.Thought
	thought := func(i int, edit func(*sequent.Thought)) change {
		return func(_ *sequent.Header, log []sequent.Thought) []sequent.Thought { edit(&log[i]); return log }
	}
	header := func(edit func(*sequent.Header)) change {
		return func(h *sequent.Header, log []sequent.Thought) []sequent.Thought { edit(h); return log }
	}
	for name, c := range map[string]struct {
		change change
		code   sequent.Code
	}{
		"no id":             {header(func(h *sequent.Header) { h.ID = "" }), sequent.CodeInvalidSession},
		"a gap":             {func(_ *sequent.Header, log []sequent.Thought) []sequent.Thought { return log[1:] }, sequent.CodeInvalidThought},
		"after itself":      {thought(1, func(t *sequent.Thought) { t.After = 2 }), sequent.CodeInvalidThought},
		"after -1":          {thought(1, func(t *sequent.Thought) { t.After = -1 }), sequent.CodeInvalidThought},
		"replaces the next": {thought(0, func(t *sequent.Thought) { t.Supersedes = 2 }), sequent.CodeInvalidThought},
		"state":             {header(func(h *sequent.Header) { h.State = "open" }), sequent.CodeInvalidSession},
		"dialect":           {header(func(h *sequent.Header) { h.Dialect = "a\x00" }), sequent.CodeInvalidSession},
		"scope":             {header(func(h *sequent.Header) { h.Scope = strings.Repeat("é", 257) }), sequent.CodeLimitExceeded},
		"label":             {header(func(h *sequent.Header) { h.Labels = map[string]string{"a": "\xff"} }), sequent.CodeInvalidThought},
		"expired":           {header(func(h *sequent.Header) { h.Expires = restoredAt }), sequent.CodeInvalidSession},
		"too long":          {thought(2, func(t *sequent.Thought) { t.Text = strings.Repeat("x", 65<<10) }), sequent.CodeLimitExceeded},
		"too many": {func(_ *sequent.Header, log []sequent.Thought) []sequent.Thought {
			for n := range 20 {
				log = append(log, sequent.Thought{Seq: len(log) + 1, Draft: sequent.Draft{Number: n, Text: "x"}})
			}
			return log
		}, sequent.CodeLimitExceeded},
		"branches": {func(_ *sequent.Header, log []sequent.Thought) []sequent.Thought {
			for i := range log {
				log[i].Branch = fmt.Sprint(i)
			}
			return log
		}, sequent.CodeLimitExceeded},
		"a key twice": {func(_ *sequent.Header, log []sequent.Thought) []sequent.Thought {
			log[1].Request.Key, log[2].Request.Key = "k", "k"
			return log
		}, sequent.CodeRequestKeyReused},
	} {
		t.Run(name, func(t *testing.T) {
			s := grownAt(t, 6)
			e := sequent.New(sequent.Config{Limits: sequent.Limits{Thoughts: 12, Branches: 4}})
			h := s.Header()
			log := c.change(&h, s.Thoughts())
			if _, err := e.Restore(t.Context(), h, sequent.Entries(log)); sequent.CodeOf(err) != c.code {
				t.Errorf("got %v, want code %s", err, c.code)
			}
			if page, err := e.Sessions(t.Context(), sequent.Query{}); err != nil || len(page.Headers) > 0 {
				t.Errorf("there are %v, %v", page.Headers, err)
			}
		})
	}
}

// Several restore different states of a session at once, while it is used.
func TestRestoreTogether(t *testing.T) {
	whole := grownAt(t, 60)
	store := sequent.NewMemoryStore()
	var wg sync.WaitGroup
	for range 8 {
		e := sequent.New(sequent.Config{Store: store})
		lengths := rand.Perm(61)
		wg.Go(func() {
			for _, n := range lengths {
				if _, err := restore(e, t, whole.Upto(n)); err != nil {
					t.Error(err)
				}
				if _, err := e.Session(t.Context(), "s"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s, err := sequent.New(sequent.Config{Store: store}).Session(t.Context(), "s")
	if err != nil || chain(s.Thoughts()) != chain(whole.Thoughts()) {
		t.Errorf("got %v, %v", s, err)
	}
}

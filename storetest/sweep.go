package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

func expired(now time.Time) sequent.Query {
	return sequent.Query{AllOwners: true, Expired: now}
}

var sweepTests = []test{
	{"only expired sessions", func(t *testing.T, h Harness) {
		s := h.open(t)
		for i := range 10 {
			w := begin(sequent.Key{Owner: fmt.Sprint(i % 2), ID: sequent.ID(fmt.Sprint(i))}, "one", "two")
			if i > 0 {
				w.Header.Expires = start.Add(time.Duration(i) * time.Minute)
			}
			put(t, s, w)
		}
		for _, step := range []struct{ minute, limit, want, left int }{
			{0, 100, 0, 10},
			{3, 100, 3, 7}, // a session is expired at its time of expiry
			{3, 100, 0, 7},
			{8, 2, 2, 5},
			{8, 2, 2, 3},
			{8, 2, 1, 2},
			{8, 2, 0, 2},
			{99, 1000, 1, 1},
		} {
			got, err := sequent.SweepStore(t.Context(), s, expired(start.Add(time.Duration(step.minute)*time.Minute)), step.limit)
			if err != nil || got != step.want {
				t.Errorf("Sweep at minute %d, limit %d = %d, error %v; want %d", step.minute, step.limit, got, err, step.want)
			}
			page, err := s.List(t.Context(), sequent.Query{AllOwners: true})
			if err != nil || len(page.Headers) != step.left {
				t.Errorf("%d sessions left after minute %d, error %v; want %d", len(page.Headers), step.minute, err, step.left)
			}
		}
		has(t, s, sequent.Key{Owner: "0", ID: "0"}, "one", "two")
		for i := 1; i < 10; i++ {
			missing(t, s, sequent.Key{Owner: fmt.Sprint(i % 2), ID: sequent.ID(fmt.Sprint(i))})
		}
	}},
	{"a change of the expiry", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		w.Header.Expires = start
		put(t, s, w)
		w = next(w.Header, "two")
		w.Header.Expires = start.Add(time.Hour)
		put(t, s, w)
		if n, err := sequent.SweepStore(t.Context(), s, expired(start.Add(time.Minute)), 10); err != nil || n != 0 {
			t.Errorf("Sweep = %d, error %v; want 0", n, err)
		}
		has(t, s, key("a"), "one", "two")
	}},
	{"sessions that were not updated since", func(t *testing.T, h Harness) {
		s := h.open(t)
		for i := range 6 {
			w := begin(sequent.Key{Owner: fmt.Sprint(i % 2), ID: sequent.ID(fmt.Sprint(i))}, "one")
			w.Header.Updated = start.Add(time.Duration(i) * time.Hour)
			if i == 0 {
				w.Header.Expires = start.Add(time.Hour)
			}
			put(t, s, w)
		}
		changed := begin(sequent.Key{Owner: "0", ID: "changed"}, "one")
		put(t, s, changed)
		w := next(changed.Header, "two")
		w.Header.Updated = start.Add(5 * time.Hour)
		put(t, s, w)
		for _, step := range []struct {
			q          sequent.Query
			want, left int
		}{
			{sequent.Query{AllOwners: true, Before: start}, 0, 7},
			{sequent.Query{AllOwners: true, Before: start.Add(time.Hour), Expired: start}, 0, 7}, // no session meets both conditions
			{sequent.Query{AllOwners: true, Before: start.Add(time.Nanosecond)}, 1, 6},
			{sequent.Query{AllOwners: true, Before: start.Add(time.Hour)}, 0, 6},
			{sequent.Query{Owner: "0", Before: start.Add(3 * time.Hour)}, 1, 5},
			{sequent.Query{AllOwners: true, Before: start.Add(5 * time.Hour)}, 3, 2},
			{sequent.Query{AllOwners: true, Before: start.Add(99 * time.Hour)}, 2, 0},
		} {
			got, err := sequent.SweepStore(t.Context(), s, step.q, 10)
			if err != nil || got != step.want {
				t.Errorf("Sweep of %+v = %d, error %v; want %d", step.q, got, err, step.want)
			}
			page, err := s.List(t.Context(), sequent.Query{AllOwners: true})
			if err != nil || len(page.Headers) != step.left {
				t.Errorf("%d sessions left after %+v, error %v; want %d", len(page.Headers), step.q, err, step.left)
			}
		}
	}},
	{"all of one owner", func(t *testing.T, h Harness) {
		s := h.open(t)
		for i := range 9 {
			w := begin(sequent.Key{Owner: []string{"", "al", "alice"}[i%3], ID: sequent.ID(fmt.Sprint(i))}, "a needle")
			w.Entries[0].Thought.Request = sequent.Request{Key: "k", Digest: "d"}
			prove(w)
			put(t, s, w)
		}
		for _, step := range []struct{ limit, want int }{{2, 2}, {2, 1}, {2, 0}} {
			if got, err := sequent.SweepStore(t.Context(), s, sequent.Query{Owner: "al"}, step.limit); err != nil || got != step.want {
				t.Errorf("Sweep = %d, error %v; want %d", got, err, step.want)
			}
		}
		for owner, want := range map[string]int{"": 3, "al": 0, "alice": 3} {
			page, err := s.List(t.Context(), sequent.Query{Owner: owner})
			if err != nil || len(page.Headers) != want {
				t.Errorf("%q has %d sessions, error %v; want %d", owner, len(page.Headers), err, want)
			}
			hits, err := sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Owner: owner, Text: "needle"})
			if err != nil || len(hits.Hits) != want {
				t.Errorf("%q has %d matches, error %v; want %d", owner, len(hits.Hits), err, want)
			}
		}
	}},
	{"two sweeps during writes", func(t *testing.T, h Harness) {
		s := h.open(t)
		stores := []sequent.Store{s, s}
		if h.Second != nil {
			stores[1] = h.second(t, s)
		}
		const old, writers, steps = 100, 4, 50
		for i := range old {
			put(t, s, begin(key(fmt.Sprint("old", i)), "a heron"))
		}
		since := start.Add(time.Hour)
		var writing, sweeping sync.WaitGroup
		for i := range writers {
			writing.Go(func() {
				h := sequent.Header{Key: key(fmt.Sprint(i))}
				for n := range steps {
					w := add(h, fmt.Sprint(n))
					rebase := w.Rebase
					w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
						ok := rebase(now, tail)
						w.Header.Updated = since
						return ok
					}
					w.Header.Updated = since
					if err := commit(t, stores[i%2], w); err != nil {
						t.Errorf("committing: %v", err)
						return
					}
					h = w.Header
				}
			})
		}
		var written atomic.Bool
		var deleted atomic.Int64
		for _, s := range stores {
			sweeping.Go(func() {
				for {
					last := written.Load()
					n, err := sequent.SweepStore(t.Context(), s, sequent.Query{AllOwners: true, Before: since}, 10)
					if deleted.Add(int64(n)); err != nil {
						t.Errorf("Sweep: %v", err)
						return
					}
					if last && n == 0 {
						return
					}
				}
			})
		}
		writing.Wait()
		written.Store(true)
		sweeping.Wait()
		if n := deleted.Load(); n != old {
			t.Errorf("the sweeps deleted %d sessions, want %d together", n, old)
		}
		page, err := s.List(t.Context(), sequent.Query{AllOwners: true})
		if err != nil || len(page.Headers) != writers {
			t.Errorf("%d sessions are left, error %v; want %d", len(page.Headers), err, writers)
		}
		hits, err := sequent.SearchStore(t.Context(), s, sequent.SearchQuery{AllOwners: true, Text: "heron"})
		if err != nil || len(hits.Hits) > 0 {
			t.Errorf("Search finds %d thoughts of deleted sessions, error %v", len(hits.Hits), err)
		}
		for i := range writers {
			if h, _ := load(t, s, key(fmt.Sprint(i))); h.Len != steps {
				t.Errorf("%d has %d thoughts, want %d", i, h.Len, steps)
			}
		}
	}},
}

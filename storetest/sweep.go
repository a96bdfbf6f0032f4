package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

var sweepTests = []test{
	{"only what has expired", func(t *testing.T, h Harness) {
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
			{3, 100, 3, 7}, // at the very minute it has expired
			{3, 100, 0, 7},
			{8, 2, 2, 5},
			{8, 2, 2, 3},
			{8, 2, 1, 2},
			{8, 2, 0, 2},
			{99, 1000, 1, 1},
		} {
			got, err := s.Sweep(t.Context(), start.Add(time.Duration(step.minute)*time.Minute), step.limit)
			if err != nil || got != step.want {
				t.Errorf("Sweep at minute %d, limit %d = %d, error %v; want %d", step.minute, step.limit, got, err, step.want)
			}
			page, err := s.List(t.Context(), sequent.Query{AllOwners: true})
			if err != nil || len(page.Headers) != step.left {
				t.Errorf("%d sessions are left after minute %d, error %v; want %d", len(page.Headers), step.minute, err, step.left)
			}
		}
		has(t, s, sequent.Key{Owner: "0", ID: "0"}, "one", "two")
		for i := 1; i < 10; i++ {
			missing(t, s, sequent.Key{Owner: fmt.Sprint(i % 2), ID: sequent.ID(fmt.Sprint(i))})
		}
	}},
	{"what was expired may be prolonged", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		w.Header.Expires = start
		put(t, s, w)
		w = next(w.Header, "two")
		w.Header.Expires = start.Add(time.Hour)
		put(t, s, w)
		if n, err := s.Sweep(t.Context(), start.Add(time.Minute), 10); err != nil || n != 0 {
			t.Errorf("Sweep = %d, error %v; want 0", n, err)
		}
		has(t, s, key("a"), "one", "two")
	}},
	{"long sessions", func(t *testing.T, h Harness) {
		s := h.open(t)
		for i := range 3 {
			w := begin(key(fmt.Sprint(i)), make([]string, 2000)...)
			w.Header.Expires = start
			put(t, s, w)
		}
		if n, err := s.Sweep(t.Context(), start, 10); err != nil || n != 3 {
			t.Errorf("Sweep = %d, error %v; want all 3, however long", n, err)
		}
		for i := range 3 {
			missing(t, s, key(fmt.Sprint(i)))
		}
	}},
}

package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

var deleteTests = []test{
	{"by epoch", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		for _, test := range []struct {
			name  string
			k     sequent.Key
			epoch int64
			found bool
		}{
			{"another epoch", key("a"), w.Header.Epoch + 1, false},
			{"another id", key("b"), 0, false},
			{"another owner", sequent.Key{Owner: "x", ID: "a"}, w.Header.Epoch, false},
			{"its epoch", key("a"), w.Header.Epoch, true},
			{"deleted", key("a"), w.Header.Epoch, false},
			{"deleted, any epoch", key("a"), 0, false},
		} {
			err := s.Delete(t.Context(), test.k, test.epoch)
			if test.found && err != nil || !test.found && !errors.Is(err, sequent.ErrNotFound) {
				t.Errorf("%s: Delete(%q, %d) = %v, want found %t", test.name, test.k, test.epoch, err, test.found)
			}
			if !test.found && !strings.HasPrefix(test.name, "deleted") {
				has(t, s, key("a"), "one")
			}
		}
		missing(t, s, key("a"))
	}},
	{"any epoch", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "one"), begin(key("b"), "stays"))
		if err := s.Delete(t.Context(), key("a"), 0); err != nil {
			t.Fatal(err)
		}
		missing(t, s, key("a"))
		has(t, s, key("b"), "stays")
		page, err := s.List(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 1 || page.Headers[0].ID != "b" {
			t.Errorf("List = %+v, error %v; want only b", page.Headers, err)
		}
	}},
	{"nothing is left for a new session with the same key", func(t *testing.T, h Harness) {
		s := h.Open(t)
		old := begin(key("a"), "old 1", "old 2", "old 3")
		old.Header.Labels = map[string]string{"old": "yes"}
		put(t, s, old)
		if err := s.Delete(t.Context(), key("a"), old.Header.Epoch); err != nil {
			t.Fatal(err)
		}
		second := begin(key("a"), "new 1")
		second.Header.Epoch++
		put(t, s, second)
		s = h.reopen(t, s)
		got, log, err := s.Load(t.Context(), key("a"), old.Header.Position())
		if err != nil {
			t.Fatal(err)
		}
		sameHeader(t, got, second.Header)
		sameTexts(t, sequent.Thoughts(log), 1, "new 1")
		if err := s.Delete(t.Context(), key("a"), old.Header.Epoch); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("Delete with the old epoch = %v, want an error matching ErrNotFound", err)
		}
		has(t, s, key("a"), "new 1")
	}},
	{"a long session", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), make([]string, 3000)...), begin(key("b"), "stays"))
		if err := s.Delete(t.Context(), key("a"), 0); err != nil {
			t.Fatal(err)
		}
		missing(t, s, key("a"))
		has(t, s, key("b"), "stays")
	}},
}

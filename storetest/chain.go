package storetest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
)

var chainTests = []test{
	{"every kind of entry", func(t *testing.T, h Harness) {
		s := h.Open(t)
		w := begin(key("a"), "one", "two")
		w.Entries = append(w.Entries, sequent.Entry{Kind: sequent.KindHeader, At: start, Body: sequent.Body{
			"title": "a \x00 b", "labels.": "", "labels.é": "<&>\u2028", "state": "active",
		}}, sequent.Entry{Kind: "of a later version", At: start, Body: sequent.Body{
			"text": "unknown", "yes": true, "no": false, "n": int64(1)<<62 + 1, "minus": int64(-1),
		}}, sequent.Entry{Kind: "empty", At: start, Body: sequent.Body{}})
		w.Header.Title, w.Header.Labels = "a \x00 b", map[string]string{"é": "<&>\u2028"}
		prove(w)
		w.Entries[1].Mask()
		w.Entries[1].Thought.Text = ""
		put(t, s, w)
		added := next(w.Header, "three", "four")
		put(t, s, added)
		s = h.reopen(t, s)
		want := append(w.Entries, added.Entries...)
		if got := intact(t, s, key("a")); !slices.EqualFunc(got, want, sameEntry) {
			t.Errorf("the log is\n%+v\nwant\n%+v", got, want)
		}
		for i := range want { // the rest after each of them
			at := added.Header.Position()
			at.Entries, at.Head = i+1, want[i].Hash
			if _, tail, err := s.Load(t.Context(), key("a"), at); err != nil || !slices.EqualFunc(tail, want[i+1:], sameEntry) {
				t.Errorf("after %d entries there are %d more, %v; want %d", i+1, len(tail), err, len(want)-i-1)
			}
		}
	}},
	{"entries of a deleted session", func(t *testing.T, h Harness) {
		s := h.open(t)
		for range 2 {
			w := begin(key("a"), "one")
			w.Entries = append(w.Entries, sequent.Entry{Kind: "note", At: start, Body: sequent.Body{"text": "mine"}})
			prove(w)
			put(t, s, w)
			if got := intact(t, s, key("a")); len(got) != 2 {
				t.Errorf("the log has %d entries, want 2", len(got))
			}
			if err := s.Delete(t.Context(), key("a"), 0); err != nil {
				t.Fatal(err)
			}
		}
	}},
	{"a write to another history of the same length is rebased", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "one")
		put(t, s, first)
		put(t, s, next(first.Header, "two"))
		elsewhere := next(first.Header, "another two")
		w := next(elsewhere.Header, "three")
		called := false
		w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
			called = true
			sameTexts(t, sequent.Thoughts(tail), 1, "one", "two")
			refit(w, now, []string{"three"})
			return now.Version > 0
		}
		put(t, s, w)
		if !called {
			t.Error("Rebase was not called although the head of the base is not the session's")
		}
		has(t, s, key("a"), "one", "two", "three")
		intact(t, s, key("a"))
	}},
	{"engines that write to one session", func(t *testing.T, h Harness) {
		a := h.Open(t)
		stores := []sequent.Store{a, a, a}
		if h.Second != nil {
			stores[1], stores[2] = h.second(t, a), h.second(t, a)
		}
		const each = 30
		var writers sync.WaitGroup
		for i, store := range stores {
			e := sequent.New(sequent.Config{Store: store})
			for j := range 2 {
				writers.Go(func() {
					for n := range each {
						// All begin the session at first.
						if _, err := e.Ensure(t.Context(), "a", func(c *sequent.Change) error {
							if n%5 == j {
								c.SetLabel(fmt.Sprint("writer", i, j), fmt.Sprint(n))
							}
							_, err := c.Append(sequent.Draft{Number: n, Text: fmt.Sprint(i, j, n)})
							return err
						}); err != nil {
							t.Errorf("writer %d, %d: %v", i, j, err)
							return
						}
					}
				})
			}
		}
		writers.Wait()
		const changes = 6 * each / 5
		for _, store := range stores {
			if got := intact(t, store, key("a")); len(got) != 6*each+changes {
				t.Errorf("the log has %d entries, want %d", len(got), 6*each+changes)
			}
		}
		s := h.reopen(t, a)
		intact(t, s, key("a"))
	}},
	{"damage is found", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one", "two", "three")
		w.Entries[1].Thought.Text = "not what was proven"
		put(t, s, w)
		h2, entries, err := s.Load(t.Context(), key("a"), sequent.Position{})
		if err != nil {
			t.Fatal(err)
		}
		v := sequent.Verify(h2, entries)
		if v.Fault == nil || *v.Fault != (sequent.Fault{Kind: sequent.FaultAltered, Place: 2, Seq: 2}) {
			t.Errorf("Verify = %+v, fault %v; want the second thought to be altered", v, v.Fault)
		}
	}},
}

// sameEntry compares all that the hashes do not cover.
func sameEntry(a, b sequent.Entry) bool {
	return a.Place == b.Place && a.Salt == b.Salt && a.Hash == b.Hash && maps.Equal(a.Masked, b.Masked) && a.Thought.Text == b.Thought.Text
}

// intact returns the whole log of a session, and fails the test unless it verifies.
func intact(t *testing.T, s sequent.Store, k sequent.Key) []sequent.Entry {
	t.Helper()
	h, entries, err := s.Load(t.Context(), k, sequent.Position{})
	if err != nil {
		t.Fatalf("Load(%q): %v", k, err)
	}
	if v := sequent.Verify(h, entries); v.Fault != nil {
		t.Errorf("%q: %v", k, v.Fault)
	}
	return entries
}

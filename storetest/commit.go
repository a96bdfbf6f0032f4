package storetest

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

var commitTests = []test{
	{"begin and append", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		got, _ := load(t, s, key("a"))
		sameHeader(t, got, w.Header)
		w = next(got, "two", "three")
		put(t, s, w)
		got, _ = load(t, s, key("a"))
		sameHeader(t, got, w.Header)
		has(t, s, key("a"), "one", "two", "three")
	}},
	{"a change without a thought", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		w = next(w.Header)
		w.Header.State = sequent.Cancelled
		w.Header.Conclusion = "never mind"
		put(t, s, w)
		got, _ := load(t, s, key("a"))
		sameHeader(t, got, w.Header)
		has(t, s, key("a"), "one")
		w = next(w.Header)
		w.Header.State = sequent.Abandoned
		put(t, s, w)
		s = h.reopen(t, s)
		got, _ = load(t, s, key("a"))
		sameHeader(t, got, w.Header)
	}},
	{"a stale base is rebased", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "one")
		put(t, s, first)
		put(t, s, next(first.Header, "two", "three"))
		now, _ := load(t, s, key("a"))

		w := next(first.Header, "four")
		calls := 0
		w.Rebase = func(got sequent.Header, tail []sequent.Entry) bool {
			calls++
			sameHeader(t, got, now)
			sameTexts(t, sequent.Thoughts(tail), 2, "two", "three")
			refit(w, got, []string{"four"})
			return true
		}
		put(t, s, w)
		if calls != 1 {
			t.Errorf("Rebase was called %d times, want 1", calls)
		}
		has(t, s, key("a"), "one", "two", "three", "four")
		got, _ := load(t, s, key("a"))
		sameHeader(t, got, w.Header)
	}},
	{"a matching base is not rebased", func(t *testing.T, h Harness) {
		s := h.open(t)
		w := begin(key("a"), "one")
		fail := func(sequent.Header, []sequent.Entry) bool {
			t.Error("Rebase was called although the base matches")
			return false
		}
		w.Rebase = fail
		put(t, s, w)
		w = next(w.Header, "two")
		w.Rebase = fail
		put(t, s, w)
		has(t, s, key("a"), "one", "two")
	}},
	{"a newer version without a thought makes a base stale", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "one")
		put(t, s, first)
		put(t, s, next(first.Header))
		w := next(first.Header, "two")
		var tail []sequent.Entry
		called := false
		w.Rebase = func(now sequent.Header, got []sequent.Entry) bool {
			called, tail = true, got
			refit(w, now, []string{"two"})
			return true
		}
		put(t, s, w)
		if !called || len(tail) != 0 {
			t.Errorf("Rebase called: %t, with a tail of %d thoughts; want true and 0", called, len(tail))
		}
		has(t, s, key("a"), "one", "two")
	}},
	{"a base of another epoch is rebased on the whole log", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "old", "older")
		put(t, s, first)
		if err := s.Delete(t.Context(), key("a"), 0); err != nil {
			t.Fatal(err)
		}
		second := begin(key("a"), "new", "newer")
		second.Header.Epoch++
		put(t, s, second)
		w := next(first.Header, "newest")
		w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
			if now.Epoch != second.Header.Epoch {
				t.Errorf("Rebase got epoch %d, want %d", now.Epoch, second.Header.Epoch)
			}
			sameTexts(t, sequent.Thoughts(tail), 1, "new", "newer")
			refit(w, now, []string{"newest"})
			return true
		}
		put(t, s, w)
		has(t, s, key("a"), "new", "newer", "newest")
	}},
	{"a deleted session", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "one")
		put(t, s, first)
		if err := s.Delete(t.Context(), key("a"), 0); err != nil {
			t.Fatal(err)
		}
		w := next(first.Header, "two")
		var existed bool
		w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
			existed = now.Version > 0
			if len(tail) != 0 {
				t.Errorf("Rebase got a tail of %d thoughts for a deleted session", len(tail))
			}
			return false
		}
		put(t, s, w)
		if existed {
			t.Error("Rebase got the header of a deleted session")
		}
		missing(t, s, key("a"))

		w = next(first.Header, "two")
		w.Rebase = func(sequent.Header, []sequent.Entry) bool {
			h := begin(key("a")).Header
			h.Epoch, h.Version = 7, 0
			refit(w, h, []string{"begun again"})
			return true
		}
		put(t, s, w)
		has(t, s, key("a"), "begun again")
	}},
	{"beginning a session that exists", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "one"))
		w := begin(key("a"), "mine")
		w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
			if now.Version != 1 {
				t.Errorf("Rebase got version %d, want 1", now.Version)
			}
			sameTexts(t, sequent.Thoughts(tail), 1, "one")
			w.Err = sequent.ErrExists
			return false
		}
		if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(w.Err, sequent.ErrExists) {
			t.Errorf("the write's error is %v, want %v, which Rebase set", w.Err, sequent.ErrExists)
		}
		has(t, s, key("a"), "one")
	}},
	{"nothing is stored if Rebase returns false", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "one")
		put(t, s, first)
		put(t, s, next(first.Header, "two"))
		before, _ := load(t, s, key("a"))
		w := next(first.Header, "three")
		w.Rebase = func(now sequent.Header, _ []sequent.Entry) bool {
			refit(w, now, []string{"three"})
			return false
		}
		put(t, s, w)
		after, _ := load(t, s, key("a"))
		sameHeader(t, after, before)
		has(t, s, key("a"), "one", "two")
	}},
	{"many sessions in a batch", func(t *testing.T, h Harness) {
		s := h.open(t)
		var batch []*sequent.Write
		for _, name := range names {
			batch = append(batch, begin(key(name), name))
		}
		put(t, s, batch...)
		for _, name := range names {
			has(t, s, key(name), name)
		}
	}},
	{"one refused write does not affect the rest of the batch", func(t *testing.T, h Harness) {
		s := h.open(t)
		first := begin(key("a"), "one")
		put(t, s, first)
		stale := begin(key("a"), "refused")
		batch := []*sequent.Write{
			begin(key("b"), "b1"), stale, next(first.Header, "two"), begin(key("c"), "c1"),
		}
		if err := s.Commit(t.Context(), batch); err != nil {
			t.Fatalf("Commit: %v; want only the write's Err set", err)
		}
		for i, w := range batch {
			if (w.Err != nil) != (w == stale) {
				t.Errorf("write %d: Err = %v", i, w.Err)
			}
		}
		has(t, s, key("a"), "one", "two")
		has(t, s, key("b"), "b1")
		has(t, s, key("c"), "c1")
	}},
	{"a large batch", func(t *testing.T, h Harness) {
		s := h.open(t)
		const sessions = 1000
		var batch []*sequent.Write
		for i := range sessions {
			batch = append(batch, begin(key(strconv.Itoa(i)), strings.Repeat("x", i)))
		}
		put(t, s, batch...)
		for i, w := range batch { // every other one is stale, so the store rebases it
			batch[i] = add(w.Header, "second")
			if i%2 == 1 {
				batch[i] = add(begin(w.Header.Key, "another").Header, "second")
			}
		}
		put(t, s, batch...)
		for i := range sessions {
			has(t, s, key(strconv.Itoa(i)), strings.Repeat("x", i), "second")
		}
	}},
	{"a panic in Rebase does not block the store", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "one"))
		w := begin(key("a"), "two")
		w.Rebase = func(sequent.Header, []sequent.Entry) bool { panic("a bug of the caller") }
		func() {
			defer func() {
				if recover() == nil {
					t.Error("Commit recovered the panic")
				}
			}()
			_ = s.Commit(t.Context(), []*sequent.Write{begin(key("b"), "of the same batch"), w})
		}()
		h1, _ := load(t, s, key("a"))
		put(t, s, next(h1, "three"))
		has(t, s, key("a"), "one", "three")
	}},
}

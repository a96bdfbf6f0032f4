package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

var writerTests = []test{
	{"many writers on many sessions", func(t *testing.T, h Harness) {
		s := h.Open(t)
		const sessions, writers, each = 40, 5, 4
		concurrently(t, sessions*writers, func(n int) error {
			return appendMany(t, s, key(fmt.Sprint(n/writers)), n%writers, each)
		})
		s = h.reopen(t, s)
		for i := range sessions {
			checkAppended(t, s, key(fmt.Sprint(i)), writers, each)
		}
	}},
	{"one of many writers begins a session", func(t *testing.T, h Harness) {
		s := h.open(t)
		const writers = 50
		var mu sync.Mutex
		begun := 0
		concurrently(t, writers, func(writer int) error {
			w := begin(key("a"), fmt.Sprint(writer))
			if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil {
				return err
			}
			if w.Err == nil {
				mu.Lock()
				begun++
				mu.Unlock()
			}
			return nil
		})
		head, log := load(t, s, key("a"))
		if begun != 1 || len(log) != 1 || head.Version != 1 {
			t.Errorf("%d of %d writers began the session, which has %d thoughts at version %d; want 1, 1, 1",
				begun, writers, len(log), head.Version)
		}
	}},
	{"readers see whole writes", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "0a", "0b"))
		var have [4]sequent.Position
		var all [4]int
		stop := reading(len(have), func(i int) bool {
			head, tail, err := s.Load(t.Context(), key("a"), have[i])
			have[i], all[i] = head.Position(), all[i]+len(tail)
			if err != nil || head.Len != all[i] || head.Len%2 != 0 || head.Len != 2*head.Version {
				t.Errorf("a reader has %d thoughts at %+v, %v; each write has two", all[i], have[i], err)
			}
			return !t.Failed()
		})
		head, _ := load(t, s, key("a"))
		for i := range 100 {
			w := next(head, fmt.Sprint(i, "a"), fmt.Sprint(i, "b"))
			put(t, s, w)
			head = w.Header
		}
		stop()
	}},
	{"reading during deletions", func(t *testing.T, h Harness) {
		s := h.open(t)
		stop := reading(2, func(int) bool {
			head, entries, err := s.Load(t.Context(), key("a"), sequent.Position{})
			log := sequent.Thoughts(entries)
			if err == nil && len(log) != head.Len || err != nil && sequent.CodeOf(err) != sequent.CodeSessionNotFound {
				t.Errorf("loaded %d thoughts, the header says %d: %v", len(log), head.Len, err)
			}
			for _, th := range log {
				if th.Text != log[0].Text {
					t.Errorf("loaded thoughts of two sessions: %q and %q", log[0].Text, th.Text)
				}
			}
			return !t.Failed()
		})
		for i := range 50 {
			texts := slices.Repeat([]string{fmt.Sprint("generation ", i)}, 20)
			w := begin(key("a"), texts...)
			w.Header.Epoch += int64(i)
			put(t, s, w)
			put(t, s, next(w.Header, texts[0]))
			if err := s.Delete(t.Context(), key("a"), w.Header.Epoch); err != nil {
				t.Errorf("Delete: %v", err)
			}
		}
		stop()
	}},
}

var sharedTests = []test{
	{"one Store reads what another wrote", func(t *testing.T, h Harness) {
		a := h.open(t)
		b := h.second(t, a)
		put(t, a, begin(key("a"), "one"))
		has(t, b, key("a"), "one")
		head, _ := load(t, b, key("a"))
		put(t, b, next(head, "two"))
		has(t, a, key("a"), "one", "two")
		put(t, a, add(head, "three"))
		has(t, b, key("a"), "one", "two", "three")
		if err := b.Delete(t.Context(), key("a"), 0); err != nil {
			t.Fatal(err)
		}
		missing(t, a, key("a"))
	}},
	{"a commit of one Store is reported by another", func(t *testing.T, h Harness) {
		a := h.open(t)
		b := h.second(t, a)
		wr := begin(key("a"), "one")
		put(t, a, wr)
		w, any := watch(t, b, key("a")), watch(t, b, sequent.Key{})
		for i := 2; i < 8; i++ {
			put(t, a, add(wr.Header, "more"))
			if err := waitForLen(t, b, w, key("a"), i); err != nil {
				t.Fatalf("waiting for thought %d: %v", i, err)
			}
			if err := waitFor(t, any, sequent.Key{}); err != nil {
				t.Fatalf("waiting for any session: %v", err)
			}
		}
		for err := error(nil); err == nil; { // drop notices of what has been read
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			_, err = w.Wait(ctx)
			cancel()
		}
		head, _ := load(t, a, key("a"))
		titled := next(head)
		titled.Header.Title = "another"
		put(t, a, titled)
		if err := waitFor(t, w, key("a")); err != nil {
			t.Errorf("waiting for a title: %v", err)
		}
		if err := a.Delete(t.Context(), key("a"), 0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		_, err := waitUntil(ctx, w, func() bool {
			_, _, err := b.Load(ctx, key("a"), sequent.Position{})
			return errors.Is(err, sequent.ErrNotFound)
		})
		if err != nil {
			t.Errorf("waiting for the deletion: %v", err)
		}
	}},
	{"closing one Store does not close another", func(t *testing.T, h Harness) {
		a := h.open(t)
		if h.Second == nil {
			t.Skip("this store cannot be shared")
		}
		b := h.Second(t, a)
		put(t, b, begin(key("a"), "one"))
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		head, _ := load(t, a, key("a"))
		put(t, a, next(head, "two"))
		has(t, a, key("a"), "one", "two")
	}},
}

// reading calls do with 0 to n-1 at the same time, again and again until it returns false or stop is
// called.
func reading(n int, do func(i int) bool) (stop func()) {
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for i := range n {
		readers.Go(func() {
			for do(i) {
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	return func() {
		close(ended)
		readers.Wait()
	}
}

// concurrently calls do n times at the same time, and fails the test for each
// error.
func concurrently(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := do(i); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// appendMany appends n thoughts with the text "writer/i", one at a time. Its
// positions are stale if other writers append.
func appendMany(t *testing.T, s sequent.Store, k sequent.Key, writer, n int) error {
	head := begin(k).Header
	head.Version = 0
	for i := range n {
		w := add(head, fmt.Sprintf("%d/%d", writer, i))
		if err := commit(t, s, w); err != nil {
			return err
		}
		head = w.Header
	}
	return nil
}

// checkAppended fails the test unless the session has exactly what appendMany wrote
// for all writers, and each writer's thoughts are in order.
func checkAppended(t *testing.T, s sequent.Store, k sequent.Key, writers, each int) {
	t.Helper()
	head, log := load(t, s, k)
	if head.Len != writers*each || len(log) != writers*each || head.Version != writers*each {
		t.Errorf("%q has %d thoughts at %+v, want %d", k, len(log), head.Position(), writers*each)
	}
	next := make([]int, writers)
	for i, th := range log {
		if th.Seq != i+1 {
			t.Errorf("%q: thought at index %d has Seq %d", k, i, th.Seq)
		}
		var writer, n int
		if _, err := fmt.Fscanf(strings.NewReader(th.Text), "%d/%d", &writer, &n); err != nil {
			t.Fatalf("%q: thought %d is %q", k, i, th.Text)
		}
		if n != next[writer] {
			t.Errorf("%q: got thought %d of writer %d, want %d", k, n, writer, next[writer])
		}
		next[writer]++
	}
}

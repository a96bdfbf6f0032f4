package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
)

var writerTests = []test{
	{"many writers on one session", func(t *testing.T, h Harness) {
		s := h.Open(t)
		const writers, each = 32, 20
		crowd(t, writers, func(writer int) error {
			return appendMany(t, s, key("a"), writer, each)
		})
		s = h.again(t, s)
		complete(t, s, key("a"), writers, each)
	}},
	{"many writers on many sessions", func(t *testing.T, h Harness) {
		s := h.Open(t)
		const sessions, writers, each = 40, 5, 4
		crowd(t, sessions*writers, func(n int) error {
			return appendMany(t, s, key(fmt.Sprint(n/writers)), n%writers, each)
		})
		s = h.again(t, s)
		for i := range sessions {
			complete(t, s, key(fmt.Sprint(i)), writers, each)
		}
	}},
	{"one of many may begin", func(t *testing.T, h Harness) {
		s := h.open(t)
		const writers = 50
		var mu sync.Mutex
		won := 0
		crowd(t, writers, func(writer int) error {
			w := begin(key("a"), fmt.Sprint(writer))
			if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil {
				return err
			}
			if w.Err == nil {
				mu.Lock()
				won++
				mu.Unlock()
			}
			return nil
		})
		head, log := load(t, s, key("a"))
		if won != 1 || len(log) != 1 || head.Version != 1 {
			t.Errorf("%d of %d writers began the session, which has %d thoughts at version %d; want 1, 1, 1",
				won, writers, len(log), head.Version)
		}
	}},
	{"readers see whole steps", func(t *testing.T, h Harness) {
		s := h.open(t)
		put(t, s, begin(key("a"), "0a", "0b"))
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				var have sequent.Position
				var all []sequent.Thought
				for {
					head, tail, err := s.Load(t.Context(), key("a"), have)
					if err != nil {
						t.Errorf("Load: %v", err)
						return
					}
					all = append(all, tail...)
					have = head.Position()
					if head.Len != len(all) || head.Len%2 != 0 || head.Len != 2*head.Version {
						t.Errorf("a reader sees %d thoughts at %+v; steps are of two", len(all), have)
						return
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		head, _ := load(t, s, key("a"))
		for i := range 100 {
			w := next(head, fmt.Sprint(i, "a"), fmt.Sprint(i, "b"))
			put(t, s, w)
			head = w.Header
		}
		close(stop)
		readers.Wait()
	}},
	{"a reader meets a deletion", func(t *testing.T, h Harness) {
		s := h.open(t)
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for {
					head, log, err := s.Load(t.Context(), key("a"), sequent.Position{})
					if err == nil && len(log) != head.Len {
						t.Errorf("%d thoughts were loaded under a header of %d", len(log), head.Len)
						return
					}
					if err != nil && sequent.CodeOf(err) != sequent.CodeSessionNotFound {
						t.Errorf("Load: %v", err)
						return
					}
					for _, th := range log {
						if th.Text != log[0].Text {
							t.Errorf("thoughts of two sessions in one: %q and %q", log[0].Text, th.Text)
							return
						}
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
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
		close(stop)
		readers.Wait()
	}},
}

var sharedTests = []test{
	{"one handle sees what another wrote", func(t *testing.T, h Harness) {
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
	{"one handle wakes those who wait at another", func(t *testing.T, h Harness) {
		a := h.open(t)
		b := h.second(t, a)
		w := begin(key("a"), "one")
		put(t, a, w)
		for i := 2; i < 8; i++ {
			done := make(chan error, 1)
			go func() { done <- reaches(t, b, w.Header, i) }()
			put(t, a, add(w.Header, "more"))
			if err := <-done; err != nil {
				t.Fatalf("waiting for thought %d: %v", i, err)
			}
		}
		done := make(chan error, 1)
		head, _ := load(t, a, key("a"))
		go func() { done <- b.Wait(t.Context(), key("a"), head.Position()) }()
		if err := a.Delete(t.Context(), key("a"), 0); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("waiting for the deletion: %v", err)
		}
	}},
	{"one handle wakes those who wait for anything at another", func(t *testing.T, h Harness) {
		a := h.open(t)
		b := h.second(t, a)
		done := make(chan error, 1)
		go func() { done <- b.Wait(t.Context(), sequent.Key{}, sequent.Position{}) }()
		head := begin(key("a")).Header
		for {
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("Wait: %v", err)
				}
				return
			default:
				put(t, a, add(head, "more"))
			}
		}
	}},
	{"writers of several handles on one session", func(t *testing.T, h Harness) {
		a := h.open(t)
		handles := []sequent.Store{a, h.second(t, a), h.second(t, a), a}
		const each = 25
		crowd(t, len(handles), func(writer int) error {
			return appendMany(t, handles[writer], key("a"), writer, each)
		})
		for _, s := range handles {
			complete(t, s, key("a"), len(handles), each)
		}
	}},
	{"closing one handle leaves the other", func(t *testing.T, h Harness) {
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
	{"what was acknowledged is there after reopening", func(t *testing.T, h Harness) {
		if h.Reopen == nil {
			t.Skip("this store forgets")
		}
		s := h.Open(t)
		w := begin(key("a"), "one")
		put(t, s, w)
		for i := range 3 {
			s = h.Reopen(t, s)
			put(t, s, add(w.Header, fmt.Sprint(i)))
		}
		s = closed(t, h.Reopen(t, s))
		has(t, s, key("a"), "one", "0", "1", "2")
		if got := ids(t, s, sequent.Query{}); got != "a" {
			t.Errorf("List = %q, want a", got)
		}
	}},
}

// crowd runs do n times at once and fails the test for each error.
func crowd(t *testing.T, n int, do func(i int) error) {
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

// appendMany appends thoughts that say who wrote them, one at a time, and
// always against a position that is likely to be stale.
func appendMany(t *testing.T, s sequent.Store, k sequent.Key, writer, n int) error {
	head := begin(k).Header
	head.Version = 0
	for i := range n {
		w := add(head, fmt.Sprintf("%d/%d", writer, i))
		if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil {
			return err
		}
		if w.Err != nil {
			return w.Err
		}
		head = w.Header
	}
	return nil
}

// complete fails the test unless the session holds what appendMany of all
// writers wrote, each writer's thoughts in order and none twice.
func complete(t *testing.T, s sequent.Store, k sequent.Key, writers, each int) {
	t.Helper()
	head, log := load(t, s, k)
	if head.Len != writers*each || len(log) != writers*each || head.Version != writers*each {
		t.Errorf("%q has %d thoughts under %+v, want %d", k, len(log), head.Position(), writers*each)
	}
	done := make([]int, writers)
	for i, th := range log {
		if th.Seq != i+1 {
			t.Errorf("%q: thought at place %d has Seq %d", k, i, th.Seq)
		}
		var writer, n int
		if _, err := fmt.Fscanf(strings.NewReader(th.Text), "%d/%d", &writer, &n); err != nil {
			t.Fatalf("%q: thought %d is %q", k, i, th.Text)
		}
		if n != done[writer] {
			t.Errorf("%q: writer %d's thought %d came where %d was due", k, writer, n, done[writer])
		}
		done[writer]++
	}
}

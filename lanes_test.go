package sequent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
)

// A lockingStore is a store with lanes whose sessions can be locked by another
// process. A locked session delays a commit until it is unlocked, unless the write
// may be skipped.
type lockingStore struct {
	sequent.Store
	lanes int
	delay time.Duration // of each commit
	slow  sequent.ID    // a session whose commits take three seconds, as on a connection that is lost

	mu      sync.Mutex
	locked  map[sequent.ID]chan struct{} // closed when the session is unlocked
	under   map[sequent.ID]int           // commits under way
	batches [][]sequent.ID
	overlap bool // a session was in two commits at a time
}

func (s *lockingStore) Lanes() int { return s.lanes }

func (s *lockingStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	s.mu.Lock()
	var stored []*sequent.Write
	var ids []sequent.ID
	var locks []chan struct{}
	for _, w := range batch {
		lock := s.locked[w.Header.ID]
		if w.Skipped = lock != nil && w.Try; w.Skipped {
			continue
		}
		if lock != nil {
			locks = append(locks, lock)
		}
		s.under[w.Header.ID]++
		s.overlap = s.overlap || s.under[w.Header.ID] > 1
		stored, ids = append(stored, w), append(ids, w.Header.ID)
	}
	s.batches = append(s.batches, ids)
	s.mu.Unlock()
	if slices.Contains(ids, s.slow) {
		time.Sleep(3 * time.Second)
	}
	time.Sleep(s.delay)
	for _, lock := range locks {
		<-lock
	}
	err := s.Store.Commit(ctx, stored)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.under[id]--
	}
	return err
}

// lock locks a session and returns a function that unlocks it.
func (s *lockingStore) lock(id sequent.ID) (unlock func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock := make(chan struct{})
	s.locked[id] = lock
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.locked, id)
		close(lock)
	}
}

func newLocking(lanes int) (*lockingStore, *sequent.Engine) {
	s := &lockingStore{
		Store: sequent.NewMemoryStore(), lanes: lanes, delay: time.Millisecond,
		locked: make(map[sequent.ID]chan struct{}), under: make(map[sequent.ID]int),
	}
	return s, sequent.New(sequent.Config{Store: s})
}

func appendText(ctx context.Context, e *sequent.Engine, id sequent.ID, text string) error {
	_, err := e.Ensure(ctx, id, func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: text, More: true})
		return err
	})
	return err
}

func texts(t *testing.T, e *sequent.Engine, id sequent.ID) (texts []string) {
	t.Helper()
	s, err := e.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for th := range s.All() {
		texts = append(texts, th.Text)
	}
	return texts
}

// A locked session delays its own commits, in order, and no others.
func TestLockedSession(t *testing.T) {
	for _, lanes := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			store, e := newLocking(lanes)
			for _, id := range []sequent.ID{"locked", "a", "b"} {
				if err := appendText(t.Context(), e, id, "0"); err != nil {
					t.Fatal(err)
				}
			}
			unlock := store.lock("locked")
			var wg sync.WaitGroup
			want := []string{"0"}
			for i := 1; i <= 20; i++ { // some with each batch of the others
				text := fmt.Sprint(i)
				want = append(want, text)
				wg.Go(func() {
					if err := appendText(t.Context(), e, "locked", text); err != nil {
						t.Error(err)
					}
				})
				start := time.Now()
				for _, id := range []sequent.ID{"a", "b"} {
					if err := appendText(t.Context(), e, id, text); err != nil {
						t.Fatal(err)
					}
				}
				if took := time.Since(start); took > 10*time.Millisecond {
					t.Errorf("%d lanes: appends to other sessions took %v", lanes, took)
				}
				synctest.Wait()
			}
			ctx, cancel := context.WithCancel(t.Context())
			wg.Go(func() {
				if err := appendText(ctx, e, "locked", "cancelled"); sequent.CodeOf(err) != sequent.CodeCanceled {
					t.Errorf("append that is cancelled while it waits = %v, want code %s", err, sequent.CodeCanceled)
				}
			})
			synctest.Wait()
			cancel()
			synctest.Wait()
			time.Sleep(15 * time.Second)
			if got, want := e.Stalled(10*time.Second), (sequent.Stalled{Sessions: 1}); got != want {
				t.Errorf("%d lanes: Stalled = %+v, want %+v", lanes, got, want)
			}
			unlock()
			wg.Wait()
			for _, id := range []sequent.ID{"locked", "a", "b"} {
				if got := texts(t, e, id); !slices.Equal(got, want) {
					t.Errorf("%d lanes: %s has the thoughts %q, want %q", lanes, id, got, want)
				}
			}
			if store.overlap {
				t.Errorf("%d lanes: a session was in two batches at a time", lanes)
			}
		})
	}
}

// While a batch takes long, other lanes commit for other sessions.
func TestLateLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, e := newLocking(3)
		for _, id := range []sequent.ID{"a", "b", "c", "d"} {
			if err := appendText(t.Context(), e, id, "0"); err != nil {
				t.Fatal(err)
			}
		}
		store.slow = "a"
		var wg sync.WaitGroup
		var mu sync.Mutex
		took := make(map[string]time.Duration)
		add := func(id sequent.ID, text string) {
			start := time.Now()
			wg.Go(func() {
				if err := appendText(t.Context(), e, id, text); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				took[string(id)+text] = time.Since(start)
			})
			synctest.Wait()
		}
		add("a", "1")
		add("a", "2")
		add("b", "1") // waits for a second lane
		time.Sleep(time.Second)
		if got, want := e.Stalled(900*time.Millisecond), (sequent.Stalled{Batches: 1}); got != want {
			t.Errorf("Stalled = %+v, want %+v", got, want)
		}
		add("c", "1") // leads one at once
		add("d", "1")
		wg.Wait()
		const ms = time.Millisecond
		for name, want := range map[string][2]time.Duration{
			"a1": {3000 * ms, 3010 * ms}, "a2": {6000 * ms, 6020 * ms}, "b1": {5 * ms, 20 * ms}, "c1": {ms, 5 * ms}, "d1": {ms, 5 * ms},
		} {
			if took[name] < want[0] || took[name] > want[1] {
				t.Errorf("%s took %v, want %v to %v", name, took[name], want[0], want[1])
			}
		}
		if got := strings.Join(texts(t, e, "a"), " "); got != "0 1 2" || store.overlap {
			t.Errorf("a has the thoughts %s; in two batches at a time: %v", got, store.overlap)
		}
	})
}

// The callers of a batch get the next one together.
func TestBatchesAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, e := newLocking(1)
		if err := appendText(t.Context(), e, "locked", "0"); err != nil {
			t.Fatal(err)
		}
		unlock := store.lock("locked")
		var locked sync.WaitGroup
		for range 7 { // they wait all the time, and are in no batch
			locked.Go(func() {
				if err := appendText(t.Context(), e, "locked", "1"); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		before := len(store.batches)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for n := range 20 {
					if err := appendText(t.Context(), e, sequent.ID(fmt.Sprint(i)), fmt.Sprint(n)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		n := len(store.batches) - before
		unlock()
		locked.Wait()
		if n > 25 {
			t.Errorf("%d appends of each of 8 callers took %d batches", 20, n)
		}
	})
}

// A batch that hangs in the only lane is reported.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, e := newLocking(1)
		store.slow = "a"
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := appendText(t.Context(), e, "a", "1"); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(2 * time.Second)
		if got, want := e.Stalled(time.Second), (sequent.Stalled{Batches: 1, All: true}); got != want {
			t.Errorf("Stalled = %+v, want %+v", got, want)
		}
		wg.Wait()
		if got := e.Stalled(0); got != (sequent.Stalled{}) {
			t.Errorf("Stalled = %+v after the commit", got)
		}
	})
}

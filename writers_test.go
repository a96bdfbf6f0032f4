package sequent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/sequent-dev/sequent"
)

// Two engines of one store are what two processes are; one of them knows nothing by heart.
func TestManyWriters(t *testing.T) {
	const writers, each = 200, 10
	for _, sessions := range []int{1, 10} {
		store := &auditor{Store: sequent.NewMemoryStore(), t: t}
		engines := []*sequent.Engine{sequent.New(sequent.Config{Store: store}), sequent.New(sequent.Config{Store: store, CacheBytes: -1})}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				e, id, branch := engines[w%2], sequent.ID(fmt.Sprint("s", w%sessions)), fmt.Sprint("w", w)
				for n := range each {
					s, err := e.Ensure(t.Context(), id, add(sequent.Draft{Number: n, Branch: branch, Text: "x"}))
					if err != nil {
						t.Errorf("writer %d, thought %d: %v", w, n, err)
						return
					}
					if last, ok := s.Last(); !ok || last.Number != n || last.Branch != branch {
						t.Errorf("writer %d: the snapshot ends with %+v, not with what it appended", w, last)
					}
				}
			})
		}
		wg.Wait()
		total := 0
		for i := range sessions {
			s, err := engines[1].Session(t.Context(), sequent.ID(fmt.Sprint("s", i)))
			if err != nil {
				t.Fatal(err)
			}
			next := make(map[string]int) // writer → number it should have next
			for i, th := range s.Thoughts() {
				if th.Seq != i+1 || th.Number != next[th.Branch] {
					t.Fatalf("%d sessions: thought %d is %+v, want number %d", sessions, i+1, th, next[th.Branch])
				}
				next[th.Branch]++
			}
			total += s.Len()
		}
		if total != writers*each {
			t.Errorf("%d sessions: %d thoughts, want %d", sessions, total, writers*each)
		}
	}
}

// A gate is a store whose commits wait, so that a test can see callers queue.
type gate struct {
	sequent.Store
	entered chan int // receives the size of each batch
	open    chan error
}

func (g *gate) Commit(ctx context.Context, batch []*sequent.Write) error {
	n := 0
	for _, w := range batch {
		n += len(w.Entries)
	}
	g.entered <- n
	if err := <-g.open; err != nil {
		return err
	}
	return g.Store.Commit(ctx, batch)
}

// Calls that wait for a commit share the next one.
func TestConcurrentChangesShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{Store: sequent.NewMemoryStore(), entered: make(chan int), open: make(chan error)}
		e := sequent.New(sequent.Config{Store: g})
		var failed atomic.Int32
		var wg sync.WaitGroup
		start := func(n int) {
			wg.Go(func() {
				if _, err := e.Ensure(t.Context(), sequent.ID(fmt.Sprint(n)), add(plain(n))); err != nil {
					failed.Add(1)
				}
			})
			synctest.Wait()
		}
		start(1)
		if n := <-g.entered; n != 1 {
			t.Fatalf("a lone change commits %d thoughts", n)
		}
		for n := range 5 {
			start(n + 2) // they queue while the first commit is under way
		}
		canceled, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := e.Ensure(canceled, "s", add(plain(99))); sequent.CodeOf(err) != sequent.CodeCanceled {
				t.Errorf("a change given up while it waited: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		g.open <- nil
		if n := <-g.entered; n != 5 {
			t.Errorf("the second commit has %d thoughts, want the 5 that waited", n)
		}
		g.open <- errors.New("disk on fire")
		wg.Wait()
		if failed.Load() != 5 {
			t.Errorf("%d changes failed with their commit, want 5", failed.Load())
		}
		start(7)
		if n := <-g.entered; n != 1 {
			t.Errorf("the next commit has %d thoughts: failed ones came back", n)
		}
		g.open <- nil
		wg.Wait()
		page, err := e.Sessions(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 2 {
			t.Errorf("the sessions are %+v, %v; want two", page.Headers, err)
		}
	})
}

// An auditor checks that every write is what [sequent.Write] says, before and after
// Rebase. Stores rely on it.
type auditor struct {
	sequent.Store
	t *testing.T
}

func (a *auditor) Commit(ctx context.Context, batch []*sequent.Write) error {
	keys := make(map[sequent.Key]bool)
	for _, w := range batch {
		if keys[w.Header.Key] {
			a.t.Errorf("two writes for %v in one batch", w.Header.Key)
		}
		keys[w.Header.Key] = true
		a.check(w)
		rebase := w.Rebase
		w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
			ok := rebase(now, tail)
			if ok {
				a.check(w)
				if now.Version > 0 && w.Base != now.Position() || now.Version == 0 && w.Base.Version != 0 {
					a.t.Errorf("after Rebase the base is %+v, want %+v", w.Base, now.Position())
				}
			}
			return ok
		}
	}
	return a.Store.Commit(ctx, batch)
}

func (a *auditor) check(w *sequent.Write) {
	h, base := &w.Header, w.Base
	if base.Version == 0 {
		base = sequent.Position{Epoch: h.Epoch}
	}
	thoughts := sequent.Thoughts(w.Entries)
	had := h.Len - len(thoughts)
	if h.Epoch == 0 || h.Epoch != base.Epoch || h.Version <= base.Version || had < 0 || h.Seal != h.Digest() {
		a.t.Errorf("a write leads from %+v to %+v with %d thoughts", w.Base, h.Position(), len(thoughts))
	}
	for i, th := range thoughts {
		if th.Seq != had+i+1 || th.After >= th.Seq || th.Supersedes >= th.Seq {
			a.t.Errorf("thought %d of a write is %+v", had+i+1, th)
		}
	}
	if len(w.Entries) == 0 && h.Head != base.Head || len(w.Entries) > 0 && !h.Continues(base, w.Entries) ||
		h.Entries != base.Entries+len(w.Entries) {
		a.t.Errorf("a write leads from %+v to %+v, and its %d entries do not", w.Base, h.Position(), len(w.Entries))
	}
}

// Those who change one session take turns, and one who gives up waiting changes nothing.
func TestTurnsOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{Store: sequent.NewMemoryStore(), entered: make(chan int), open: make(chan error)}
		e := sequent.New(sequent.Config{Store: g})
		var wg sync.WaitGroup
		wg.Go(func() { ensure(t, e, "s", plain(1)) })
		<-g.entered
		wg.Go(func() { ensure(t, e, "s", plain(2)) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := e.Ensure(ctx, "s", add(plain(99))); sequent.CodeOf(err) != sequent.CodeCanceled {
				t.Errorf("a change given up while it waited: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		g.open <- nil
		<-g.entered
		// A reader does not wait for the commit under way.
		if s, err := e.Session(t.Context(), "s"); err != nil || s.Len() != 1 {
			t.Errorf("during the second commit the session is %v, %v", s, err)
		}
		g.open <- nil
		wg.Wait()
		if s, err := e.Session(t.Context(), "s"); err != nil || chain(s.Thoughts()) != "1@1 2@2" {
			t.Errorf("the session is %v, %v", s, err)
		}
	})
}

// lockedStore refuses writes to one session that do not wait.
type lockedStore struct {
	sequent.Store
	locked  sequent.ID
	waiting chan []*sequent.Write
}

func (s *lockedStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	var rest []*sequent.Write
	for _, w := range batch {
		switch {
		case w.Header.ID != s.locked:
			rest = append(rest, w)
		case w.Wait:
			s.waiting <- batch
			rest = append(rest, w)
		default:
			w.Err = sequent.ErrLocked
		}
	}
	return s.Store.Commit(ctx, rest)
}

// A session that another process has locked holds up no other one.
func TestLockedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &lockedStore{Store: sequent.NewMemoryStore(), locked: "locked", waiting: make(chan []*sequent.Write)}
		e := sequent.New(sequent.Config{Store: store})
		var wg sync.WaitGroup
		wg.Go(func() { ensure(t, e, "locked", plain(1)) })
		synctest.Wait()
		for n := range 5 {
			ensure(t, e, "other", plain(n))
		}
		if s := e.Stats(); s.Oldest != 0 {
			t.Errorf("the stats are %+v, want none that others wait for", s)
		}
		if batch := <-store.waiting; len(batch) != 1 {
			t.Errorf("the locked session waits with %d others", len(batch)-1)
		}
		wg.Wait()
		if s, err := e.Session(t.Context(), "locked"); err != nil || s.Len() != 1 {
			t.Errorf("the locked session is %v, %v", s, err)
		}
	})
}

// A panic of a change function is raised in its caller, also if the function runs for the
// second time, in a transaction of the store that others share.
func TestPanicOfAChange(t *testing.T) {
	store := sequent.NewMemoryStore()
	e, other := sequent.New(sequent.Config{Store: store}), sequent.New(sequent.Config{Store: store})
	ensure(t, e, "s", plain(1))
	ensure(t, other, "s", plain(2))
	for _, at := range []int{1, 2} { // what e knows, then what is stored
		func() {
			defer func() {
				if p := recover(); p != "oh" {
					t.Errorf("the caller recovers %v", p)
				}
			}()
			_, _ = e.Update(t.Context(), "s", func(c *sequent.Change) error {
				if c.Session().Len() >= at {
					panic("oh")
				}
				_, err := c.Append(plain(9))
				return err
			})
		}()
	}
	if s := ensure(t, e, "s", plain(3)); chain(s.Thoughts()) != "1@1 2@2 3@3" {
		t.Errorf("the log is %s", chain(s.Thoughts()))
	}
}

// A repeatingStore calls Rebase twice, as a store does whose transaction fails after the
// first call and is repeated.
type repeatingStore struct{ sequent.Store }

func (s *repeatingStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	for _, w := range batch {
		rebase := w.Rebase
		w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
			rebase(now, tail)
			return rebase(now, tail)
		}
	}
	return s.Store.Commit(ctx, batch)
}

// A change that has nothing to write for the session's current state, such as a repeated call,
// succeeds also if the store asks again.
func TestRebaseTwice(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	one, two := sequent.New(sequent.Config{Store: &repeatingStore{store}}), sequent.New(sequent.Config{Store: store})
	add := func(e *sequent.Engine, only int) error {
		_, err := e.Ensure(t.Context(), "a", func(c *sequent.Change) error {
			if c.Session().Len() > only {
				return nil
			}
			_, err := c.Append(sequent.Draft{Text: "text"})
			return err
		})
		return err
	}
	if err := errors.Join(add(one, 0), add(two, 1)); err != nil {
		t.Fatal(err)
	}
	if err := add(one, 1); err != nil {
		t.Errorf("the change of the engine with the older state: %v", err)
	}
	if s, err := two.Session(t.Context(), "a"); err != nil || s.Len() != 2 {
		t.Errorf("Session = %v, %v, want 2 thoughts", s, err)
	}
}

// A panickingStore panics in its next Commit if panics is set.
type panickingStore struct {
	sequent.Store
	panics atomic.Bool
}

func (s *panickingStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	if s.panics.Swap(false) {
		panic("broken index")
	}
	return s.Store.Commit(ctx, batch)
}

// A panic inside Store.Commit fails its batch and no later one.
func TestPanicInCommit(t *testing.T) {
	store := &panickingStore{Store: sequent.NewMemoryStore()}
	e := sequent.New(sequent.Config{Store: store})
	add := func() error {
		_, err := e.Append(t.Context(), "a", sequent.Draft{Text: "one"})
		return err
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	store.panics.Store(true)
	err := add()
	if sequent.CodeOf(err) != sequent.CodeInternal || !strings.Contains(err.Error(), "broken index") || !strings.Contains(err.Error(), "may or may not") || !sequent.IsUncertain(err) {
		t.Errorf("Ensure with a panic in the store = %v, want the code %s, the cause and that the outcome is unknown", err, sequent.CodeInternal)
	}
	for range 2 {
		if err := add(); err != nil {
			t.Fatalf("Ensure after the panic: %v", err)
		}
	}
	if s, err := e.Session(t.Context(), "a"); err != nil || s.Len() != 3 {
		t.Errorf("Session = %v, %v, want 3 thoughts", s, err)
	}
}

package sequent_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/sequent-dev/sequent"
)

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
		if s, err := e.Session(t.Context(), "s"); err != nil || chain(slices.Collect(s.All())) != "1@1 2@2" {
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
	if s := ensure(t, e, "s", plain(3)); chain(slices.Collect(s.All())) != "1@1 2@2 3@3" {
		t.Errorf("the log is %s", chain(slices.Collect(s.All())))
	}
}

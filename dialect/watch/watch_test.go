package watch_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/watch"
)

// A countingStore counts the calls of Wait that are in progress.
type countingStore struct {
	sequent.Store
	waiting atomic.Int32
	failing atomic.Bool
}

func (s *countingStore) Wait(ctx context.Context, k sequent.Key, have sequent.Position) error {
	if s.failing.Load() {
		return sequent.ErrBusy
	}
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	return s.Store.Wait(ctx, k, have)
}

// A client records what it is told.
type client struct {
	changes atomic.Int32
	gone    atomic.Bool
}

func (c *client) changed(gone bool) {
	c.changes.Add(1)
	c.gone.Store(gone)
}

func say(t *testing.T, e *sequent.Engine, id sequent.ID) {
	t.Helper()
	_, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "a", Number: c.Session().NextNumber(""), More: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{Store: sequent.NewMemoryStore()}
		engine := sequent.New(sequent.Config{Store: store})
		ann := engine.Owned("ann")
		w := watch.New(engine)
		if _, err := w.Watch(t.Context(), "ann", "s", nil); !errors.Is(err, sequent.ErrNotFound) {
			t.Fatalf("Watch of a session that does not exist: %v", err)
		}
		say(t, ann, "s")
		say(t, engine, "s")
		clients := make([]client, 3)
		var stops []func()
		for i := range clients {
			ctx, cancel := context.WithCancel(t.Context())
			stop, err := w.Watch(ctx, "ann", "s", clients[i].changed)
			cancel() // the context of the request does not end the watch
			if err != nil {
				t.Fatal(err)
			}
			stops = append(stops, stop)
		}
		synctest.Wait()
		if n := store.waiting.Load(); n != 1 {
			t.Errorf("%d calls wait in the store for %d clients, want 1", n, len(clients))
		}
		told := func(want ...int32) {
			t.Helper()
			synctest.Wait()
			var got []int32
			for i := range clients {
				got = append(got, clients[i].changes.Load())
			}
			if !slices.Equal(got, want) {
				t.Errorf("clients were told of %v changes, want %v", got, want)
			}
		}
		told(0, 0, 0)
		say(t, engine, "s") // of the same id, but another owner
		told(0, 0, 0)
		say(t, ann, "s")
		told(1, 1, 1)
		stops[0]()
		say(t, ann, "s")
		told(1, 2, 2)
		if err := ann.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		told(1, 3, 3)
		if clients[0].gone.Load() || !clients[1].gone.Load() || !clients[2].gone.Load() {
			t.Error("the clients that still watch must be told that the session is gone, and no others")
		}
		if n := store.waiting.Load(); n != 0 {
			t.Errorf("%d calls wait in the store for a session that is gone", n)
		}
		stops[1]()
		stops[2]()
	})
}

// A failing store delays reports and loses none.
func TestWatchAfterError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{Store: sequent.NewMemoryStore()}
		engine := sequent.New(sequent.Config{Store: store})
		say(t, engine, "s")
		store.failing.Store(true)
		var c client
		stop, err := watch.New(engine).Watch(t.Context(), "", "s", c.changed)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		synctest.Wait()
		say(t, engine, "s")
		store.failing.Store(false)
		time.Sleep(2 * time.Second) // fake time
		synctest.Wait()
		if n := c.changes.Load(); n != 1 {
			t.Errorf("told of %d changes after an error of the store, want 1", n)
		}
	})
}

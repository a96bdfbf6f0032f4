package watch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/watch"
)

// A countingStore counts the calls of Watch and Load.
type countingStore struct {
	sequent.Store
	watches, loads atomic.Int32
	failing        atomic.Bool  // Load fails
	others         sequent.Feed // reports changes instead of Store if shared
	shared         bool
}

func (s *countingStore) Watch(ctx context.Context) (*sequent.Watch, error) {
	s.watches.Add(1)
	if s.shared {
		return s.others.Watch(), nil
	}
	return s.Store.Watch(ctx)
}

func (s *countingStore) Load(ctx context.Context, k sequent.Key, have sequent.Position, limit int) (sequent.Header, []sequent.Entry, error) {
	s.loads.Add(1)
	if s.failing.Load() {
		return sequent.Header{}, nil, sequent.ErrBusy
	}
	return s.Store.Load(ctx, k, have, limit)
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
		if n := store.watches.Load(); n != 2 { // the first of all has ended
			t.Errorf("%d watches of the store for %d clients, want 1", n-1, len(clients))
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
		loads := store.loads.Load()
		say(t, ann, "s")
		told(1, 1, 1)
		if n := store.loads.Load() - loads; n != 0 {
			t.Errorf("the store is read %d times after a change of the same process, want 0", n)
		}
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
		// The watches have ended without stop: synctest fails if a goroutine is left.
	})
}

// Changes that another process may have made are read. A failing store delays their
// report and loses none.
func TestWatchOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{Store: sequent.NewMemoryStore(), shared: true}
		engine := sequent.New(sequent.Config{Store: store})
		w := watch.New(engine)
		ids := []sequent.ID{"a", "b", "c"}
		clients := make([]client, len(ids))
		for i, id := range ids {
			say(t, engine, id)
			stop, err := w.Watch(t.Context(), "", id, clients[i].changed)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
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
		store.others.Lost()
		told(0, 0, 0)
		say(t, engine, "a")
		store.others.Touched(sequent.Key{ID: "a"}.Topic(), sequent.Key{ID: "b"}.Topic())
		told(1, 0, 0)
		store.failing.Store(true)
		store.others.Lost()
		told(1, 0, 0)
		store.failing.Store(false)
		say(t, engine, "b")
		if err := engine.Delete(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // fake time
		told(1, 1, 1)
		if clients[0].gone.Load() || clients[1].gone.Load() || !clients[2].gone.Load() {
			t.Error("only the client of the deleted session must be told that it is gone")
		}
	})
}

// BenchmarkAppend appends to a session of many that are watched.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{0, 10_000, 40_000} {
		b.Run(fmt.Sprintf("watches-%d", n), func(b *testing.B) {
			engine := sequent.New(sequent.Config{})
			w := watch.New(engine)
			grow := func(c *sequent.Change) error {
				_, err := c.Append(sequent.Draft{Text: "a", Number: c.Session().NextNumber(""), More: true})
				return err
			}
			var c client
			for i := range max(n, 1) {
				id := sequent.ID(fmt.Sprint(i))
				if _, err := engine.Ensure(b.Context(), id, grow); err != nil {
					b.Fatal(err)
				}
				if n == 0 {
					continue
				}
				stop, err := w.Watch(b.Context(), "", id, c.changed)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(stop)
			}
			i := 0
			for b.Loop() {
				id := sequent.ID(fmt.Sprint(i / 10_000 % max(n, 1)))
				if _, err := engine.Ensure(b.Context(), id, grow); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

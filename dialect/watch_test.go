package dialect_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
)

// A countingStore counts the calls of Load.
type countingStore struct {
	sequent.Store
	loads   atomic.Int32
	failing atomic.Bool  // Load fails
	others  sequent.Feed // reports changes instead of Store if shared
	shared  bool
}

func (s *countingStore) Watch(ctx context.Context) (*sequent.Watch, error) {
	if s.shared {
		return s.others.Watch(), nil
	}
	return sequent.WatchStore(ctx, s.Store)
}

func (s *countingStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	s.loads.Add(1)
	if s.failing.Load() {
		return sequent.Header{}, nil, sequent.ErrConflict
	}
	return s.Store.Load(ctx, k, have)
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

type clients []client

// told checks how many changes each client was told of.
func (list clients) told(t *testing.T, want ...int32) {
	t.Helper()
	synctest.Wait()
	var got []int32
	for i := range list {
		got = append(got, list[i].changes.Load())
	}
	if !slices.Equal(got, want) {
		t.Errorf("clients were told of %v changes, want %v", got, want)
	}
}

func say(t *testing.T, e *sequent.Engine, id sequent.ID) {
	t.Helper()
	_, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "a", Number: c.Session().NextNumber("")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := sequent.New(sequent.Config{})
		ann := engine.Owned("ann")
		if _, err := dialect.WatchSession(t.Context(), ann, "s", nil); !errors.Is(err, sequent.ErrNotFound) {
			t.Fatalf("Watch of a session that does not exist: %v", err)
		}
		say(t, ann, "s")
		say(t, engine, "s")
		clients := make(clients, 3)
		var stops []func()
		for i := range clients {
			ctx, cancel := context.WithCancel(t.Context())
			stop, err := dialect.WatchSession(ctx, ann, "s", clients[i].changed)
			cancel() // the context of the request does not end the watch
			if err != nil {
				t.Fatal(err)
			}
			stops = append(stops, stop)
		}
		clients.told(t, 0, 0, 0)
		say(t, engine, "s") // of the same id, but another owner
		clients.told(t, 0, 0, 0)
		say(t, ann, "s")
		clients.told(t, 1, 1, 1)
		stops[0]()
		say(t, ann, "s")
		clients.told(t, 1, 2, 2)
		if err := ann.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		clients.told(t, 1, 3, 3)
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
		ids := []sequent.ID{"a", "b", "c"}
		clients := make(clients, len(ids))
		for i, id := range ids {
			say(t, engine, id)
			stop, err := dialect.WatchSession(t.Context(), engine, id, clients[i].changed)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
		}
		store.others.Lost()
		clients.told(t, 0, 0, 0)
		say(t, engine, "a")
		store.others.Touched(sequent.Key{ID: "a"}.Topic(), sequent.Key{ID: "b"}.Topic())
		clients.told(t, 1, 0, 0)
		store.failing.Store(true)
		store.others.Lost()
		clients.told(t, 1, 0, 0)
		store.failing.Store(false)
		say(t, engine, "b")
		if err := engine.Delete(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // fake time
		clients.told(t, 1, 1, 1)
		if clients[0].gone.Load() || clients[1].gone.Load() || !clients[2].gone.Load() {
			t.Error("only the client of the deleted session must be told that it is gone")
		}
	})
}

package watch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
)

// A counting store counts who waits in it for a session, and can fail.
type counting struct {
	*sequent.MemoryStore
	waiting atomic.Int32
	broken  atomic.Bool
}

func (c *counting) Wait(ctx context.Context, k sequent.Key, have sequent.Position) error {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	if c.broken.Load() {
		return errors.New("the store is away")
	}
	return c.MemoryStore.Wait(ctx, k, have)
}

// In a bubble, which fails if a goroutine is left behind.
func TestManyWatchers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &counting{MemoryStore: sequent.NewMemoryStore()}
		e := sequent.New(sequent.Config{Store: store})
		think := func(owner string, id sequent.ID) {
			t.Helper()
			if _, err := e.Owned(owner).Ensure(t.Context(), id, func(c *sequent.Change) error {
				_, err := c.Append(sequent.Draft{Number: c.Session().Len() + 1, Text: "t"})
				return err
			}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		think("alice", "s")
		think("bob", "s")
		w := New(e)
		if _, err := w.Watch(t.Context(), "alice", "none", nil); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("Watch of no session = %v, want %v", err, sequent.ErrNotFound)
		}
		const many = 50
		var told, gone [many]int
		var stops []func()
		for i := range many {
			stop, err := w.Watch(t.Context(), "alice", "s", func(over bool) {
				told[i]++
				if over {
					gone[i]++
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			stops = append(stops, stop)
		}
		synctest.Wait()
		if n := store.waiting.Load(); n != 1 {
			t.Errorf("%d wait in the store for %d watchers of one session, want 1", n, many)
		}
		think("bob", "s") // which is another session
		think("alice", "s")
		think("alice", "s")
		stops[0]()
		store.broken.Store(true)
		think("alice", "s")
		time.Sleep(retryAfter / 2)
		store.broken.Store(false)
		time.Sleep(retryAfter)
		synctest.Wait()
		if err := e.Owned("alice").Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for i := range many {
			want, over := 4, 1
			if i == 0 {
				want, over = 2, 0
			}
			if told[i] != want || gone[i] != over {
				t.Errorf("watcher %d was told %d times, of the end %d; want %d, %d", i, told[i], gone[i], want, over)
			}
		}
		for _, stop := range stops[1:] {
			stop()
		}
		if len(w.sessions) != 0 {
			t.Errorf("%d sessions are still watched", len(w.sessions))
		}
	})
}

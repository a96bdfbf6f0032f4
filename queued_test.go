package sequent_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// Changes that are asked for when those before them stand in line are applied in
// that order, whether the engine knows their session or has to load it, and when
// it expired meanwhile.
func TestWhenQueuedKeepsTheOrder(t *testing.T) {
	t.Parallel()
	const calls = 200
	store := sequent.NewMemoryStore()
	now := time.Now()
	first := sequent.New(sequent.Config{Store: store, TTL: time.Hour, Now: func() time.Time { return now }})
	if _, err := first.Begin(t.Context(), "s", func(*sequent.Change) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		later time.Duration
	}{{"not cached", 0}, {"cached", 0}, {"expired", 2 * time.Hour}} {
		now = now.Add(tt.later)
		e := first
		if tt.name == "not cached" {
			e = sequent.New(sequent.Config{Store: store, TTL: time.Hour, Now: func() time.Time { return now }})
		}
		var wg sync.WaitGroup
		for i := range calls {
			queued := make(chan struct{})
			once := sync.OnceFunc(func() { close(queued) })
			wg.Go(func() {
				defer once()
				if _, err := e.WhenQueued(once).Ensure(t.Context(), "s", func(c *sequent.Change) error {
					_, err := c.Append(sequent.Draft{Text: fmt.Sprint(i), Number: i + 1, Total: calls, More: true})
					return err
				}); err != nil {
					t.Error(err)
				}
			})
			<-queued
		}
		wg.Wait()
		s, err := e.Session(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		want := s.Len() - calls
		if tt.later > 0 && want != 0 {
			t.Errorf("%s: %d thoughts are older than the session", tt.name, want)
		}
		for th := range s.Since(want) {
			if th.Number != th.Seq-want {
				t.Fatalf("%s: change %d was applied as number %d", tt.name, th.Number, th.Seq-want)
			}
		}
	}
}

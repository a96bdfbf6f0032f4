package sequent_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
)

// Several callers begin the same session in one commit: one of them does, and
// the refusal of the others leaves alone what was planned with it.
func TestBeginTogether(t *testing.T) {
	for name, expired := range map[string]bool{"nothing before": false, "an expired session before": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := sequent.NewMemoryStore()
				if expired {
					old := sequent.New(sequent.Config{Store: store, TTL: time.Minute})
					for n := range 4 {
						ensure(t, old, "s", plain(n+50))
					}
					time.Sleep(time.Hour)
				}
				g := &gate{Store: store, entered: make(chan int), open: make(chan error)}
				e := sequent.New(sequent.Config{Store: g})
				var wg sync.WaitGroup
				start := func(change func() error, want error) {
					wg.Go(func() {
						if err := change(); !errors.Is(err, want) {
							t.Errorf("got %v, want %v", err, want)
						}
					})
					synctest.Wait()
				}
				begin := func(id sequent.ID, n int) func() error {
					return func() error { _, err := e.Begin(t.Context(), id, add(plain(n))); return err }
				}
				start(begin("other", 1), nil)
				<-g.entered
				// What follows waits for that commit, and is then done in one.
				start(begin("s", 1), nil)
				start(func() error { _, err := e.Ensure(t.Context(), "s", add(plain(2))); return err }, nil)
				start(begin("s", 99), sequent.ErrExists)
				g.open <- nil
				if n := <-g.entered; n != 2 {
					t.Errorf("the second commit has %d thoughts, want 2", n)
				}
				g.open <- nil
				wg.Wait()
				check := func(e *sequent.Engine) {
					t.Helper()
					s, err := e.Session(t.Context(), "s")
					if err != nil {
						t.Fatal(err)
					}
					if got := chain(slices.Collect(s.All())); got != "1@1 2@2" {
						t.Errorf("the log is %s", got)
					}
				}
				check(e)
				check(sequent.New(sequent.Config{Store: store}))
			})
		})
	}
}

// A stuck store keeps what it has and takes nothing away.
type stuck struct{ sequent.Store }

func (stuck) Delete(context.Context, sequent.Key, int64) error { return sequent.ErrBusy }

// To begin anew where an expired session is, that one has to be deleted first.
func TestAnExpiredSessionOnAStoreThatFails(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	e := sequent.New(sequent.Config{
		Store: stuck{sequent.NewMemoryStore()},
		Now:   func() time.Time { return now },
		TTL:   time.Hour,
	})
	ensure(t, e, "s", plain(1))
	now = now.Add(time.Hour)
	if _, err := e.Ensure(t.Context(), "s", add(plain(1))); !errors.Is(err, sequent.ErrBusy) {
		t.Errorf("Ensure: %v, want the store's error", err)
	}
	ensure(t, e, "other", plain(1)) // other sessions are not delayed
}

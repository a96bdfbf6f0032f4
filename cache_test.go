package sequent_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// TestCacheForgetsDeletedSessions deletes sessions in every way there is.
func TestCacheForgetsDeletedSessions(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	const n = 2000
	for name, deleteAll := range map[string]func(e *sequent.Engine) (int, error){
		"Sweep of the expired": func(e *sequent.Engine) (int, error) {
			now = now.Add(2 * time.Hour)
			return e.Sweep(t.Context(), sequent.SweepQuery{AllOwners: true, Expired: now})
		},
		"Sweep of the unchanged": func(e *sequent.Engine) (int, error) {
			return e.Sweep(t.Context(), sequent.SweepQuery{AllOwners: true, Before: now.Add(time.Second)})
		},
		"Sweep of an owner": func(e *sequent.Engine) (int, error) { return e.Sweep(t.Context(), sequent.SweepQuery{}) },
		"Delete": func(e *sequent.Engine) (int, error) {
			for i := range n {
				if err := e.Delete(t.Context(), sequent.ID(fmt.Sprint(i))); err != nil {
					return i, err
				}
			}
			return n, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := sequent.New(sequent.Config{Now: func() time.Time { return now }, TTL: time.Hour})
			before := heap()
			for i := range n {
				ensure(t, e, sequent.ID(fmt.Sprint(i)), sequent.Draft{Number: 1, Text: fmt.Sprintf("%01000d", i)})
			}
			if grown := heap() - before; grown < n*2000 {
				t.Fatalf("%d bytes for %d sessions cannot be", grown, n)
			}
			if got, err := deleteAll(e); err != nil || got != n {
				t.Fatalf("%d deleted, %v", got, err)
			}
			if grown, s := heap()-before, e.Stats(); grown > 300<<10 || s.CacheBytes != 0 || s.CacheSessions != 0 {
				t.Errorf("%d bytes of the heap stay, and %d sessions of %d bytes in the cache", grown, s.CacheSessions, s.CacheBytes)
			}
			runtime.KeepAlive(e)
		})
	}
}

// A sweep leaves alone what it does not select.
func TestCacheKeepsOtherSessions(t *testing.T) {
	e := sequent.New(sequent.Config{})
	for _, owner := range []string{"", "a"} {
		ensure(t, e.Owned(owner), "s", plain(1))
	}
	if n, err := e.Owned("a").Sweep(t.Context(), sequent.SweepQuery{AllOwners: true}); err != nil || n != 1 {
		t.Fatalf("%d deleted, %v", n, err)
	}
	if n := e.Stats().CacheSessions; n != 1 {
		t.Errorf("the cache has %d sessions, want 1", n)
	}
}

// The limit of the cache is about what it takes on the heap.
func TestCacheBytes(t *testing.T) {
	const most = 8 << 20
	for name, draft := range map[string]func(i int) sequent.Draft{
		"short thoughts": func(i int) sequent.Draft { return sequent.Draft{Number: i, Text: fmt.Sprintf("%020d", i)} },
		"long thoughts":  func(i int) sequent.Draft { return sequent.Draft{Number: i, Text: fmt.Sprintf("%020000d", i)} },
		"request keys": func(i int) sequent.Draft {
			return sequent.Draft{Number: i, Text: "x", Request: sequent.Request{Key: fmt.Sprintf("%036d", i), Digest: fmt.Sprintf("%064d", i)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			e := sequent.New(sequent.Config{Store: &forgetful{}, CacheBytes: most})
			for i := 0; i-e.Stats().CacheSessions < 100; i++ {
				if _, err := e.Begin(t.Context(), sequent.ID(fmt.Sprint(i)), func(c *sequent.Change) error {
					for n := range 1 + i%50 {
						if _, err := c.Append(draft(n)); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			took := heap() - before
			if ratio := float64(took) / most; ratio < 0.4 || ratio > 1.3 {
				t.Errorf("%d sessions take %d bytes, %.2f of the limit", e.Stats().CacheSessions, took, ratio)
			}
			runtime.KeepAlive(e)
		})
	}
}

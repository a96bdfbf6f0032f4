package sequent_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
)

// refusedByQuota returns the message of a refusal by a quota, or fails the test.
func refusedByQuota(t *testing.T, err error) string {
	t.Helper()
	if sequent.CodeOf(err) != sequent.CodeQuotaExceeded {
		t.Fatalf("error %v, want code %s", err, sequent.CodeQuotaExceeded)
	}
	return err.Error()
}

func TestQuotaBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequent.NewMemoryStore()
		e := sequent.New(sequent.Config{Store: store, Quota: sequent.Quota{Bytes: 1000}})
		ann, bob := e.Owned("ann"), e.Owned("bob")
		text := func(n int) sequent.Draft { return sequent.Draft{Number: 1, Text: strings.Repeat("x", n)} }
		ensure(t, ann, "a", text(300))
		ensure(t, ann, "b", text(300))
		if _, err := ann.Ensure(t.Context(), "a", add(text(300))); !strings.Contains(refusedByQuota(t, err), "800 bytes, this call adds 400, and the quota is 1000") {
			t.Errorf("the refusal is %v", err)
		}
		if s, err := ann.Session(t.Context(), "a"); err != nil || s.Len() != 1 {
			t.Errorf("after the refusal the session has %d thoughts, %v", s.Len(), err)
		}
		ensure(t, ann, "a", text(50)) // what fits is accepted
		ensure(t, bob, "a", text(300))
		if err := ann.Delete(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		ensure(t, ann, "a", text(300)) // a deletion frees

		// Another process deletes: noticed at the refusal.
		time.Sleep(2 * time.Second)
		other := sequent.New(sequent.Config{Store: store})
		if err := other.Owned("ann").Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ensure(t, ann, "c", text(800))
		// Another process writes: noticed within ten seconds.
		for i := range 20 {
			ensure(t, other.Owned("bob"), "z", text(100*i))
		}
		time.Sleep(10 * time.Second)
		_, err := bob.Ensure(t.Context(), "a", add(text(1)))
		refusedByQuota(t, err)
		if n := e.Stats().QuotaRefused; n != 2 {
			t.Errorf("%d refusals are counted, want 2", n)
		}
		if own, err := other.Owned("ann").Usage(t.Context(), sequent.Query{AllOwners: true}); err != nil || len(own) != 1 || own[0].Owner != "ann" {
			t.Errorf("ann's Usage is %+v, %v", own, err)
		}
	})
}

func TestQuotaSessions(t *testing.T) {
	e := sequent.New(sequent.Config{Quota: sequent.Quota{Sessions: 2}})
	for i := range 2 {
		ensure(t, e, sequent.ID(fmt.Sprint(i)), plain(1))
	}
	_, err := e.Begin(t.Context(), "third", add(plain(1)))
	if !strings.Contains(refusedByQuota(t, err), "as many sessions as the quota allows: 2") {
		t.Errorf("the refusal is %v", err)
	}
	ensure(t, e, "0", plain(2))
	if n, err := e.Sweep(t.Context(), sequent.Query{}); err != nil || n != 2 {
		t.Fatalf("Sweep: %d, %v", n, err)
	}
	ensure(t, e, "third", plain(1))
}

// Concurrent callers together get what the quota allows, and no more.
func TestQuotaOfConcurrentCallers(t *testing.T) {
	const quota, callers, each = 100, 16, 20
	e := sequent.New(sequent.Config{Quota: sequent.Quota{Bytes: quota * 200}})
	draft := sequent.Draft{Number: 1, Text: strings.Repeat("x", 100)} // 200 bytes with the overhead
	var accepted atomic.Int64
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for range each {
				if _, err := e.Ensure(t.Context(), sequent.ID(fmt.Sprint(i%5)), add(draft)); err == nil {
					accepted.Add(1)
				} else if sequent.CodeOf(err) != sequent.CodeQuotaExceeded {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := e.Usage(t.Context(), sequent.Query{AllOwners: true})
	if n := accepted.Load(); n != quota || err != nil || len(all) != 1 || all[0].Bytes != quota*200 {
		t.Errorf("%d calls were accepted, usage %+v, %v; want %d", n, all, err, quota)
	}
}

// A slowStore has a session that another process has locked for a while.
type slowStore struct{ sequent.Store }

func (s slowStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	if w := batch[0]; w.Header.ID == "slow" {
		if !w.Wait {
			w.Err = sequent.ErrLocked
			return nil
		}
		time.Sleep(time.Minute)
	}
	return s.Store.Commit(ctx, batch)
}

// What is under way when the usage is read counts, too.
func TestQuotaOfWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sequent.New(sequent.Config{Store: slowStore{sequent.NewMemoryStore()}, Quota: sequent.Quota{Sessions: 2}})
		var slow sync.WaitGroup
		slow.Go(func() { ensure(t, e, "slow", plain(1)) })
		time.Sleep(20 * time.Second) // the usage is read again
		ensure(t, e, "b", plain(1))
		_, err := e.Ensure(t.Context(), "c", add(plain(1)))
		refusedByQuota(t, err)
		slow.Wait()
		if err := e.Delete(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		ensure(t, e, "c", plain(1)) // nothing is counted for ever
	})
}

// TestCacheForgetsDeletedSessions deletes sessions in every way there is.
func TestCacheForgetsDeletedSessions(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	const n = 2000
	for name, deleteAll := range map[string]func(e *sequent.Engine) (int, error){
		"Sweep of the expired": func(e *sequent.Engine) (int, error) {
			now = now.Add(2 * time.Hour)
			return e.Sweep(t.Context(), sequent.Query{AllOwners: true, Expired: now})
		},
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
	if n, err := e.Owned("a").Sweep(t.Context(), sequent.Query{AllOwners: true}); err != nil || n != 1 {
		t.Fatalf("%d deleted, %v", n, err)
	}
	if n := e.Stats().CacheSessions; n != 1 {
		t.Errorf("the cache has %d sessions, want 1", n)
	}
}

package sequent_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

func nothing(*sequent.Change) error { return nil }

func add(d sequent.Draft) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		_, err := c.Append(d)
		return err
	}
}

func TestVerbs(t *testing.T) {
	e := sequent.New(sequent.Config{})
	ctx := t.Context()
	if _, err := e.Update(ctx, "s", add(plain(1))); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("Update of no session: %v", err)
	}
	if _, err := e.Session(ctx, "s"); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("a refused Update left a session: %v", err)
	}
	s, err := e.Begin(ctx, "s", add(plain(1)))
	if err != nil || s.Len() != 1 || s.Version() != 1 || s.State() != sequent.Active {
		t.Fatalf("Begin = %+v, %v", s, err)
	}
	if _, err := e.Begin(ctx, "s", add(plain(1))); !errors.Is(err, sequent.ErrExists) {
		t.Errorf("Begin of a session that is there: %v", err)
	}
	last := plain(2)
	last.Final = true
	if s, err = e.Update(ctx, "s", add(last)); err != nil || s.Len() != 2 || s.State() != sequent.Completed {
		t.Fatalf("Update = %+v, %v", s, err)
	}
	if s, err = e.Ensure(ctx, "s", add(plain(3))); err != nil || s.Len() != 3 || s.State() != sequent.Active {
		t.Fatalf("Ensure = %+v, %v", s, err)
	}
	abandon := func(c *sequent.Change) error { c.Abandon(c.Session().Updated()); return nil }
	if s, err = e.Update(ctx, "s", abandon); err != nil || s.Len() != 3 || s.State() != sequent.Abandoned {
		t.Fatalf("Update that abandons the session = %+v, %v", s, err)
	}
	if s, err = e.Update(ctx, "s", add(plain(4))); err != nil || s.Len() != 4 || s.State() != sequent.Active {
		t.Fatalf("Update of an abandoned session = %+v, %v", s, err)
	}
	if s, err = e.Ensure(ctx, "other", nothing); err != nil || s.Len() != 0 || s.Version() != 1 {
		t.Fatalf("Ensure of no session, without a change = %+v, %v", s, err)
	}
	if s, err = e.Update(ctx, "other", nothing); err != nil || s.Version() != 1 {
		t.Fatalf("a change that changes nothing = %+v, %v", s, err)
	}
	if err := e.Delete(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if err := e.Delete(ctx, "s"); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("Delete again: %v", err)
	}
	if _, err := e.Update(ctx, "s", nothing); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("Update after Delete: %v", err)
	}
	if s, err = e.Ensure(ctx, "s", add(plain(1))); err != nil || s.Len() != 1 {
		t.Fatalf("begun afresh = %+v, %v", s, err)
	}
}

// Two engines over one store are what two processes are.
func TestARefusalRestsOnTheNewestState(t *testing.T) {
	store := sequent.NewMemoryStore()
	a, b := sequent.New(sequent.Config{Store: store}), sequent.New(sequent.Config{Store: store})
	ensure(t, a, "s", plain(1))
	ensure(t, b, "s", plain(2)) // a does not know this one
	_, err := a.Update(t.Context(), "s", func(c *sequent.Change) error {
		if _, ok := c.Session().Find("", 2); !ok {
			return errors.New("there is no thought 2")
		}
		_, err := c.Append(revises(3, 2))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Session(t.Context(), "s")
	if err != nil || chain(s.Path("")) != "1@1 2@2 3@3" {
		t.Errorf("b sees %s, %v", chain(s.Path("")), err)
	}
	// Deleted and begun again by b, with as many changes as a knows of.
	if err := b.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		ensure(t, b, "s", on("new", plain(n)))
	}
	if s := ensure(t, a, "s", plain(9)); s.Len() != 4 || s.Branches()[0] != "new" {
		t.Errorf("a continues what was deleted: %s", chain(s.Thoughts()))
	}
}

func TestOwnersAreApart(t *testing.T) {
	e := sequent.New(sequent.Config{})
	alice, bob := e.Owned("alice"), e.Owned("bob")
	ensure(t, alice, "s", plain(1))
	if _, err := bob.Session(t.Context(), "s"); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("bob sees alice's session: %v", err)
	}
	if _, err := bob.Update(t.Context(), "s", nothing); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("bob changes alice's session: %v", err)
	}
	if s, err := bob.Begin(t.Context(), "s", add(plain(5))); err != nil || s.Len() != 1 {
		t.Errorf("bob's own session under the same id: %v", err)
	}
	page, err := bob.Sessions(t.Context(), sequent.Query{AllOwners: true})
	if err != nil || len(page.Headers) != 1 || page.Headers[0].Owner != "bob" {
		t.Errorf("bob lists %+v, %v", page, err)
	}
	page, err = e.Sessions(t.Context(), sequent.Query{AllOwners: true})
	if err != nil || len(page.Headers) != 2 {
		t.Errorf("the local user lists %+v, %v", page, err)
	}
}

func TestExpiry(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	e := sequent.New(sequent.Config{Now: func() time.Time { return now }, TTL: time.Hour})
	ensure(t, e, "s", plain(1))
	now = now.Add(50 * time.Minute)
	ensure(t, e, "s", plain(2))
	now = now.Add(50 * time.Minute)
	if s, err := e.Session(t.Context(), "s"); err != nil || s.Len() != 2 {
		t.Fatalf("an hour counts from the last change: %v", err)
	}
	now = now.Add(10 * time.Minute)
	if _, err := e.Session(t.Context(), "s"); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("an expired session is read: %v", err)
	}
	if _, err := e.Update(t.Context(), "s", nothing); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("an expired session is changed: %v", err)
	}
	if s, err := e.Begin(t.Context(), "s", add(plain(1))); err != nil || s.Len() != 1 {
		t.Errorf("an expired session stands in the way of a new one: %v", err)
	}
	if s, err := e.Update(t.Context(), "s", func(c *sequent.Change) error {
		c.ExpireAt(now.Add(time.Minute))
		return nil
	}); err != nil || !s.Header().Expires.Equal(now.Add(time.Minute)) {
		t.Errorf("a change that says when the session expires is not heard: %v, %v", s, err)
	}
	ensure(t, e, "t", plain(1))
	now = now.Add(2 * time.Hour)
	if n, err := e.Sweep(t.Context(), sequent.Query{AllOwners: true, Expired: e.Now()}); n != 2 || err != nil {
		t.Errorf("Sweep = %d, %v, want 2", n, err)
	}
}

// A session that this process knows as expired, and that another process has kept alive, is
// not deleted.
func TestExpiryOfWhatIsKnown(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	cfg := sequent.Config{Store: sequent.NewMemoryStore(), Now: func() time.Time { return now }, TTL: time.Hour}
	e, other := sequent.New(cfg), sequent.New(cfg)
	ensure(t, e, "s", plain(1))
	now = now.Add(50 * time.Minute)
	ensure(t, other, "s", plain(2))
	now = now.Add(50 * time.Minute)
	if s := ensure(t, e, "s", plain(3)); s.Len() != 3 {
		t.Errorf("the session is %s", chain(s.Thoughts()))
	}
}

// A session that is larger than the cache is not read anew for every thought.
func TestLargeSessionIsRemembered(t *testing.T) {
	t.Parallel()
	store := &countingStore{Store: sequent.NewMemoryStore()}
	e := sequent.New(sequent.Config{Store: store, CacheBytes: 1 << 10})
	for i := range 100 {
		ensure(t, e, "s", plain(i+1))
	}
	if loads := store.loads.Load(); loads > 2 {
		t.Errorf("the store was asked %d times for 100 thoughts of one session, want at most twice", loads)
	}
}

type countingStore struct {
	sequent.Store
	loads atomic.Int64
}

func (s *countingStore) Load(ctx context.Context, k sequent.Key, since sequent.Position) (sequent.Header, []sequent.Entry, error) {
	s.loads.Add(1)
	return s.Store.Load(ctx, k, since)
}

func TestMemoryStaysBounded(t *testing.T) {
	// 25,000 sessions of a KB pass through a cache of 1 MB; what the store keeps
	// is not the cache's. Forty bytes that stay of each session are found.
	store := &forgetful{}
	e := sequent.New(sequent.Config{Store: store, CacheBytes: 1 << 20})
	text := strings.Repeat("x", 1<<10)
	before := heap()
	for i := range 25_000 {
		if _, err := e.Begin(t.Context(), sequent.ID(fmt.Sprint(i)), add(sequent.Draft{Text: text + fmt.Sprint(i)})); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > 2<<20 || grown < 1<<19 {
		t.Errorf("the heap grew by %d KB under a cache of 1024 KB", grown>>10)
	}
	runtime.KeepAlive(e)
}

// A failingList is a store whose listings fail from the second page on.
type failingList struct{ sequent.Store }

func (f failingList) List(ctx context.Context, q sequent.Query) (sequent.Page, error) {
	if q.Cursor != "" {
		return sequent.Page{}, errors.New("no second page")
	}
	return f.Store.List(ctx, q)
}

func TestAllSessions(t *testing.T) {
	store := sequent.NewMemoryStore()
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { // that of Windows gives several sessions one time
		now = now.Add(time.Second)
		return now
	}
	e := sequent.New(sequent.Config{Store: store, Now: clock})
	for i := range 5 {
		if _, err := e.Begin(t.Context(), sequent.ID(fmt.Sprint(i)), func(*sequent.Change) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	read := func(e *sequent.Engine, q sequent.Query, most int) (ids string, failed error) {
		for h, err := range e.AllSessions(t.Context(), q) {
			if err != nil {
				failed = err
				continue // an error is the last value
			}
			if ids += string(h.ID); len(ids) == most {
				break
			}
		}
		return ids, failed
	}
	for _, limit := range []int{0, 1, 2, 5, 6} {
		if ids, err := read(e, sequent.Query{Limit: limit, ByCreated: true}, 9); ids != "43210" || err != nil {
			t.Errorf("pages of %d: got %q, %v", limit, ids, err)
		}
	}
	if ids, err := read(e, sequent.Query{Limit: 2, ByCreated: true}, 3); ids != "432" || err != nil {
		t.Errorf("stopped early: got %q, %v", ids, err)
	}
	failing := sequent.New(sequent.Config{Store: failingList{store}})
	if ids, err := read(failing, sequent.Query{Limit: 2, ByCreated: true}, 9); ids != "43" || err == nil {
		t.Errorf("with an error: got %q, %v", ids, err)
	}
}

func TestMemoryStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{Open: func(t *testing.T) sequent.Store { return sequent.NewMemoryStore() }})
}

// A bare store can do nothing but what a Store must.
type bare struct{ sequent.Store }

// What a store cannot do, the package does slowly.
func TestBareStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) sequent.Store { return bare{sequent.NewMemoryStore()} },
		// A watch that reads each second is told late, and of each change.
		Skip: func(group, name string) bool {
			return group == "Watch" || group == "Shared"
		},
	})
}

// A raced store deletes what another sweep has deleted just before.
type raced struct{ sequent.Store }

func (r raced) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	return errors.Join(r.Store.Delete(ctx, k, epoch), r.Store.Delete(ctx, k, epoch))
}

// Of two sweeps, the one that deletes a session counts it.
func TestSweepOfDeletedSessions(t *testing.T) {
	e := sequent.New(sequent.Config{Store: raced{sequent.NewMemoryStore()}})
	ensure(t, e, "s", plain(1))
	if n, err := e.Sweep(t.Context(), sequent.Query{}); n != 0 || err != nil {
		t.Errorf("Sweep = %d, %v, want 0", n, err)
	}
}

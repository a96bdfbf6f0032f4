package sequent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
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

func TestARefusedChangeChangesNothing(t *testing.T) {
	e := sequent.New(sequent.Config{})
	ensure(t, e, "s", plain(1))
	refusal := errors.New("no")
	for _, verb := range []func(context.Context, sequent.ID, func(*sequent.Change) error) (*sequent.Session, error){e.Update, e.Ensure} {
		_, err := verb(t.Context(), "s", func(c *sequent.Change) error {
			if _, err := c.Append(on("b", plain(2))); err != nil {
				t.Fatal(err)
			}
			c.SetLabel("k", "v")
			c.Conclude("done")
			return refusal
		})
		if err != refusal {
			t.Fatalf("error %v, want the change's own", err)
		}
	}
	s := ensure(t, e, "s", plain(2))
	if s.Len() != 2 || s.Version() != 2 || len(s.Branches()) != 0 || s.Labels() != nil || s.Conclusion() != "" {
		t.Errorf("after two refused changes and one good: %+v, branches %q", s.Header(), s.Branches())
	}
	if _, err := e.Begin(t.Context(), "new", func(*sequent.Change) error { return refusal }); err != refusal {
		t.Fatal(err)
	}
	if _, err := e.Session(t.Context(), "new"); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("a refused Begin left a session: %v", err)
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
		t.Errorf("a continues what was deleted: %s", chain(slices.Collect(s.All())))
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
	}); err != nil || !s.Expires().Equal(now.Add(time.Minute)) {
		t.Errorf("a change that says when the session expires is not heard: %v, %v", s, err)
	}
	ensure(t, e, "t", plain(1))
	now = now.Add(2 * time.Hour)
	if n, err := e.Sweep(t.Context(), sequent.SweepQuery{AllOwners: true, Expired: e.Now()}); n != 2 || err != nil {
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
		t.Errorf("the session is %s", chain(slices.Collect(s.All())))
	}
}

func TestRequestKeys(t *testing.T) {
	d := plain(1)
	d.Request = sequent.Request{Key: "k", Digest: "d"}
	s := record(t, d, plain(2))
	if got, ok := s.Recorded("k"); !ok || got.Seq != 1 || got.Request.Digest != "d" {
		t.Errorf("Recorded(k) = %+v, %v", got, ok)
	}
	if _, ok := s.Recorded(""); ok {
		t.Error("the empty key was recorded")
	}
	if _, ok := s.Upto(0).Recorded("k"); ok {
		t.Error("the key was known before it was used")
	}
}

func TestManyWriters(t *testing.T) {
	const writers, each = 200, 10
	for _, sessions := range []int{1, 10} {
		t.Run(fmt.Sprintf("%d sessions", sessions), func(t *testing.T) {
			store := &auditor{Store: sequent.NewMemoryStore(), t: t}
			engines := []*sequent.Engine{
				sequent.New(sequent.Config{Store: store}),
				sequent.New(sequent.Config{Store: store, CacheBytes: -1}), // knows nothing by heart
			}
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					e := engines[w%len(engines)]
					id := sequent.ID(fmt.Sprint("s", w%sessions))
					for n := range each {
						s, err := e.Ensure(t.Context(), id, add(sequent.Draft{Number: n, Branch: fmt.Sprint("w", w), Text: "x"}))
						if err != nil {
							t.Errorf("writer %d, thought %d: %v", w, n, err)
							return
						}
						if last, ok := s.Last(); !ok || last.Number != n || last.Branch != fmt.Sprint("w", w) {
							t.Errorf("writer %d: the snapshot ends with %+v, not with what it appended", w, last)
						}
						if n%7 == 0 {
							if s, err = e.Session(t.Context(), id); err != nil || len(slices.Collect(s.All())) != s.Len() {
								t.Errorf("reading: %v", err)
							}
						}
					}
				})
			}
			wg.Wait()
			total := 0
			for i := range sessions {
				s, err := engines[1].Session(t.Context(), sequent.ID(fmt.Sprint("s", i)))
				if err != nil {
					t.Fatal(err)
				}
				next := make(map[string]int) // writer → number it should have next
				for i, th := range slices.Collect(s.All()) {
					if th.Seq != i+1 {
						t.Fatalf("thought %d has the sequence number %d", i+1, th.Seq)
					}
					if th.Number != next[th.Branch] {
						t.Fatalf("writer %s: thought %d, want %d", th.Branch, th.Number, next[th.Branch])
					}
					next[th.Branch]++
				}
				total += s.Len()
			}
			if total != writers*each {
				t.Errorf("%d thoughts, want %d", total, writers*each)
			}
		})
	}
}

// A gate is a store whose commits wait, so that a test can see callers queue.
type gate struct {
	sequent.Store
	entered chan int // receives the size of each batch
	open    chan error
}

func (g *gate) Commit(ctx context.Context, batch []*sequent.Write) error {
	n := 0
	for _, w := range batch {
		n += len(w.Entries)
	}
	g.entered <- n
	if err := <-g.open; err != nil {
		return err
	}
	return g.Store.Commit(ctx, batch)
}

// Calls that wait for a commit share the next one.
//
// covers: 002/throughput
func TestConcurrentChangesShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{Store: sequent.NewMemoryStore(), entered: make(chan int), open: make(chan error)}
		e := sequent.New(sequent.Config{Store: g})
		var failed atomic.Int32
		var wg sync.WaitGroup
		start := func(n int) {
			wg.Go(func() {
				if _, err := e.Ensure(t.Context(), sequent.ID(fmt.Sprint(n)), add(plain(n))); err != nil {
					failed.Add(1)
				}
			})
			synctest.Wait()
		}
		start(1)
		if n := <-g.entered; n != 1 {
			t.Fatalf("a lone change commits %d thoughts", n)
		}
		for n := range 5 {
			start(n + 2) // they queue while the first commit is under way
		}
		canceled, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := e.Ensure(canceled, "s", add(plain(99))); sequent.CodeOf(err) != sequent.CodeCanceled {
				t.Errorf("a change given up while it waited: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		g.open <- nil
		if n := <-g.entered; n != 5 {
			t.Errorf("the second commit has %d thoughts, want the 5 that waited", n)
		}
		g.open <- errors.New("disk on fire")
		wg.Wait()
		if failed.Load() != 5 {
			t.Errorf("%d changes failed with their commit, want 5", failed.Load())
		}
		start(7)
		if n := <-g.entered; n != 1 {
			t.Errorf("the next commit has %d thoughts: failed ones came back", n)
		}
		g.open <- nil
		wg.Wait()
		page, err := e.Sessions(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 2 {
			t.Errorf("the sessions are %+v, %v; want two", page.Headers, err)
		}
	})
}

// follow yields the thoughts of a session as docs/embed.md reads them, until ctx is done or the
// session cannot be read.
func follow(ctx context.Context, e *sequent.Engine, id sequent.ID, seq int) iter.Seq2[sequent.Thought, error] {
	return func(yield func(sequent.Thought, error) bool) {
		w, err := e.Watch(ctx)
		if err != nil {
			yield(sequent.Thought{}, err)
			return
		}
		defer w.Close()
		w.Add(sequent.Key{Owner: e.Owner(), ID: id})
		for {
			s, err := e.Session(ctx, id)
			if err != nil {
				yield(sequent.Thought{}, err)
				return
			}
			for t := range s.Since(seq) {
				if !yield(t, nil) {
					return
				}
				seq = t.Seq
			}
			if _, err := w.Wait(ctx); err != nil {
				return
			}
		}
	}
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequent.NewMemoryStore()
		writer, reader := sequent.New(sequent.Config{Store: store}), sequent.New(sequent.Config{Store: store})
		ensure(t, writer, "s", plain(1))
		ensure(t, writer, "s", plain(2))
		ctx, cancel := context.WithCancel(t.Context())
		seen := make(chan int)
		var wg sync.WaitGroup
		wg.Go(func() {
			for th, err := range follow(ctx, reader, "s", 1) {
				if err != nil {
					t.Errorf("follow: %v", err)
				}
				seen <- th.Seq
			}
		})
		if got := <-seen; got != 2 {
			t.Errorf("following after 1 begins with %d", got)
		}
		// An idle follower delays no writer.
		for n := 3; n <= 50; n++ {
			ensure(t, writer, "s", plain(n))
		}
		for n := 3; n <= 50; n++ {
			if got := <-seen; got != n {
				t.Fatalf("follower got %d, want %d", got, n)
			}
		}
		synctest.Wait()
		ensure(t, writer, "s", plain(51))
		if got := <-seen; got != 51 {
			t.Errorf("follower got %d, want 51", got)
		}
		cancel()
		wg.Wait()
	})
}

func TestFollowEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := sequent.New(sequent.Config{})
		ensure(t, e, "s", plain(1))
		var got []string
		var wg sync.WaitGroup
		wg.Go(func() {
			for th, err := range follow(t.Context(), e, "s", 0) {
				got = append(got, fmt.Sprintf("%d %s", th.Seq, sequent.CodeOf(err)))
			}
		})
		synctest.Wait()
		if err := e.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if want := []string{"1 ", "0 session_not_found"}; !slices.Equal(got, want) {
			t.Errorf("followed %q, want %q", got, want)
		}
	})
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

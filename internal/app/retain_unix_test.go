//go:build unix

package app

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/internal/transfer"
)

// eachStore runs a test with each persistent store.
func eachStore(t testing.TB, durable bool, run func(name, store string)) {
	t.Helper()
	run("sqlite", filepath.Join(t.TempDir(), "s.db"))
	server := &pgtest.Server{Durable: durable}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	run("postgres", server.Schema(t))
}

func openAt(t testing.TB, store string, retain time.Duration) *App {
	t.Helper()
	a, err := Open(t.Context(), Config{Store: store, Retain: retain})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// old stores n sessions of three owners that have not changed for a year. Each has
// three thoughts with request keys.
func old(t testing.TB, s sequent.Store, n int) {
	t.Helper()
	long := time.Now().AddDate(-1, 0, 0).UTC().Truncate(time.Microsecond)
	from := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: from, Now: func() time.Time { return long }})
	for i := range n {
		_, err := e.Owned([]string{"", "alice", "bob"}[i%3]).Begin(t.Context(), sequent.ID(fmt.Sprint("old ", i)), func(c *sequent.Change) error {
			for n := range 3 {
				_, err := c.Append(sequent.Draft{
					Number: n + 1, Total: 3, Text: fmt.Sprint("an outdated thought ", i, n), More: n < 2,
					Request: sequent.Request{Key: fmt.Sprint(n), Digest: "d"},
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := transfer.Copy(t.Context(), transfer.Config{From: from, To: s}); err != nil {
		t.Fatal(err)
	}
}

// appendUntil appends to one session per client until stop is closed. It returns the
// duration of each append, sorted.
func appendUntil(t testing.TB, a *App, clients int, stop <-chan struct{}) []time.Duration {
	t.Helper()
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				start := time.Now()
				_, err := a.Engine.Ensure(t.Context(), sequent.ID(fmt.Sprint("new ", i)), func(c *sequent.Change) error {
					n := c.Session().Len() + 1
					_, err := c.Append(sequent.Draft{Number: n, Total: n, Text: "a fresh thought", More: true})
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				took = append(took, time.Since(start))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	return took
}

// awaitChange waits for a change that is not old: before it, nothing is swept.
func awaitChange(t *testing.T, a *App) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		last, err := a.Engine.LastChange(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(last) < time.Hour {
			return
		}
		runtime.Gosched()
	}
}

// Several servers delete old sessions while clients write. Each old session is deleted
// once and completely, and nothing else is.
func TestRetain(t *testing.T) {
	t.Parallel()
	const sessions = 700
	eachStore(t, false, func(name, store string) {
		replicas := []*App{openAt(t, store, 90*24*time.Hour), openAt(t, store, 90*24*time.Hour)}
		a := replicas[0]
		old(t, a.store, sessions)
		tables := rawStore{t, name, store}
		tables.has(3*sessions, true)
		tables.indexes(3*sessions, 3*sessions)
		stop := make(chan struct{})
		var took []time.Duration
		var appends, sweeps sync.WaitGroup
		appends.Go(func() { took = appendUntil(t, a, 2, stop) })
		awaitChange(t, a)
		deleted := make([]int, len(replicas))
		for i, r := range replicas {
			sweeps.Go(func() {
				var err error
				if deleted[i], err = r.sweeper().Sweep(t.Context()); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		sweeps.Wait()
		close(stop)
		appends.Wait()
		if deleted[0]+deleted[1] != sessions {
			t.Errorf("%s: %v sessions were deleted, want %d together", name, deleted, sessions)
		}
		page, err := a.Engine.Sessions(t.Context(), sequent.Query{AllOwners: true})
		if err != nil || len(page.Headers) > 2 {
			t.Errorf("%s: got %d remaining sessions, error %v", name, len(page.Headers), err)
		}
		kept := 0
		for _, h := range page.Headers {
			kept += h.Len
		}
		if kept != len(took) {
			t.Errorf("%s: got %d of the %d thoughts that were recorded meanwhile", name, kept, len(took))
		}
		hits, err := a.Engine.Search(t.Context(), sequent.SearchQuery{Text: "outdated", AllOwners: true})
		if err != nil || len(hits.Hits) > 0 {
			t.Errorf("%s: Search found %d thoughts, error %v", name, len(hits.Hits), err)
		}
		tables.has(kept, false)
		tables.indexes(0, kept)
		for _, r := range replicas {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A rawStore reads the tables of a store directly.
type rawStore struct {
	t           *testing.T
	name, store string
}

// count returns the number of rows in a table.
func (l rawStore) count(driver, address, table string) (n int, err error) {
	if driver == "sqlite" {
		address += "?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(l.t.Context(), "SELECT count(*) FROM "+table).Scan(&n)
	return n, err
}

// has checks the number of thoughts, and whether there are request keys.
func (l rawStore) has(thoughts int, keys bool) {
	l.t.Helper()
	driver := "sqlite"
	if l.name == "postgres" {
		driver = "pgx"
	}
	if n, err := l.count(driver, l.store, "thoughts WHERE session <> 0"); n != thoughts || err != nil {
		l.t.Errorf("%s: got %d thoughts, error %v; want %d", l.name, n, err, thoughts)
	}
	if n, err := l.count(driver, l.store, "thoughts WHERE request_key <> ''"); n > 0 != keys || err != nil {
		l.t.Errorf("%s: got %d request keys, error %v", l.name, n, err)
	}
}

// indexes waits until the number of thoughts in the search index is in a range. The
// index is updated asynchronously.
func (l rawStore) indexes(minDocs, maxDocs int) {
	l.t.Helper()
	driver, address, table := "sqlite", strings.TrimSuffix(l.store, ".db")+"-index.db", "docs"
	if l.name == "postgres" {
		driver, address, table = "pgx", l.store, "thought_words"
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		n, err := l.count(driver, address, table)
		if err == nil && minDocs <= n && n <= maxDocs {
			return
		}
		if time.Now().After(deadline) {
			l.t.Errorf("%s: timeout: got %d thoughts in the index, error %v; want %d to %d", l.name, n, err, minDocs, maxDocs)
			return
		}
	}
}

// DeleteAll deletes the sessions of one owner only.
func TestDeleteAll(t *testing.T) {
	t.Parallel()
	eachStore(t, false, func(name, store string) {
		a := openAt(t, store, 0)
		old(t, a.store, 300)
		for _, want := range []int{100, 0} {
			if n, err := a.Engine.Owned("alice").DeleteAll(t.Context()); n != want || err != nil {
				t.Errorf("%s: DeleteAll = %d, error %v; want %d", name, n, err, want)
			}
		}
		page, err := a.Engine.Sessions(t.Context(), sequent.Query{AllOwners: true, Limit: 1000})
		if err != nil || len(page.Headers) != 200 || slices.ContainsFunc(page.Headers, func(h sequent.Header) bool { return h.Owner == "alice" }) {
			t.Errorf("%s: got %d remaining sessions, error %v", name, len(page.Headers), err)
		}
		hits, err := a.Engine.Owned("alice").Search(t.Context(), sequent.SearchQuery{Text: "outdated"})
		if err != nil || len(hits.Hits) > 0 {
			t.Errorf("%s: Search found %d thoughts, error %v", name, len(hits.Hits), err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkSweep measures the appends of four clients, with and without a concurrent
// sweep of 10,000 old sessions.
func BenchmarkSweep(b *testing.B) {
	const sessions = 10_000
	measure := func(b *testing.B, a *App, meanwhile func()) {
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			meanwhile()
		}()
		took := appendUntil(b, a, 4, stop)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
		b.ReportMetric(0, "ns/op")
	}
	eachStore(b, true, func(name, store string) {
		a := openAt(b, store, 90*24*time.Hour)
		defer a.Close()
		old(b, a.store, sessions)
		b.Run(name+"/quiet", func(b *testing.B) { measure(b, a, func() { time.Sleep(5 * time.Second) }) })
		b.Run(name+"/sweep", func(b *testing.B) {
			measure(b, a, func() {
				start := time.Now()
				n, err := a.sweeper().Sweep(context.WithoutCancel(b.Context()))
				if n != sessions || err != nil {
					b.Errorf("deleted %d sessions, error %v", n, err)
				}
				b.ReportMetric(time.Since(start).Seconds(), "s/sweep")
			})
		})
	})
}

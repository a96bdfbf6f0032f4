//go:build unix

package app

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// eachStore runs a test with each persistent store.
func eachStore(t *testing.T, run func(name, store string)) {
	t.Helper()
	run("sqlite", filepath.Join(t.TempDir(), "s.db"))
	server := new(pgtest.Server)
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	run("postgres", server.Schema(t))
}

func openAt(t *testing.T, store string, retain time.Duration) *App {
	t.Helper()
	a, err := Open(t.Context(), Config{Store: store, Retain: retain})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// old stores n sessions of three owners that have not changed for a year. Each has
// three thoughts with request keys.
func old(t *testing.T, s sequent.Store, n int) {
	t.Helper()
	long := time.Now().AddDate(-1, 0, 0).UTC().Truncate(time.Microsecond)
	from := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: from, Now: func() time.Time { return long }})
	for i := range n {
		_, err := e.Owned([]string{"", "alice", "bob"}[i%3]).Begin(t.Context(), sequent.ID(fmt.Sprint("old ", i)), func(c *sequent.Change) error {
			for n := range 3 {
				_, err := c.Append(sequent.Draft{
					Number: n + 1, Total: 3, Text: fmt.Sprint("an outdated thought ", i, n), Final: n == 2,
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
	if err := copySessions(t.Context(), from, s, func(archive.Result) {}); err != nil {
		t.Fatal(err)
	}
}

// appendUntil appends to one session per client until stop is closed. It returns the
// duration of each append, sorted.
func appendUntil(t *testing.T, a *App, clients int, stop <-chan struct{}) []time.Duration {
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
					_, err := c.Append(sequent.Draft{Number: n, Total: n, Text: "a fresh thought"})
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
		page, err := a.store.List(ctx, sequent.Query{AllOwners: true, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Headers) > 0 && time.Since(page.Headers[0].Updated) < time.Hour {
			return
		}
		runtime.Gosched()
	}
}

// Several servers delete old sessions while clients write. Each old session is deleted
// once and completely, and nothing else is.
func TestRetain(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	const sessions = 300
	eachStore(t, func(name, store string) {
		replicas := []*App{openAt(t, store, 90*24*time.Hour), openAt(t, store, 90*24*time.Hour)}
		a := replicas[0]
		old(t, a.store, sessions)
		if n := logged(t, name, store); n < 3*sessions {
			t.Errorf("%s: the log has %d entries before the sweep", name, n)
		}
		stop := make(chan struct{})
		var took []time.Duration
		var appends, sweeps sync.WaitGroup
		appends.Go(func() { took = appendUntil(t, a, 2, stop) })
		awaitChange(t, a)
		deleted := make([]int, len(replicas))
		for i, r := range replicas {
			sweeps.Go(func() {
				var err error
				if deleted[i], err = r.sweep(t.Context()); err != nil {
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
		if n := logged(t, name, store); n > 2*kept { // a session's log begins with its header
			t.Errorf("%s: the log has %d entries of %d thoughts", name, n, kept)
		}
		for _, r := range replicas {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// logged returns how many entries the log in the tables of a store has.
func logged(t *testing.T, name, store string) (n int) {
	t.Helper()
	driver, address := "sqlite", store+"?_pragma=busy_timeout(10000)"
	if name == "postgres" {
		driver, address = "pgx", store
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM tool_log").Scan(&n); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return n
}

//go:build unix

package transfer

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// openFile opens a SQLite store in dir.
func openFile(t testing.TB, dir, name string) sequent.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, name), Sync: sqlite.Normal})
	return opened(t, s, err)
}

// openDatabase opens a PostgreSQL store in a schema of its own. The address may have more
// parameters.
func openDatabase(t testing.TB, server *pgtest.Server, more string) sequent.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: server.Schema(t) + more})
	return opened(t, s, err)
}

func opened(t testing.TB, s sequent.Store, err error) sequent.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Sessions are copied from a file to a database, to one with parts, to one without and back
// to another file without a change.
func TestCopyBetweenStores(t *testing.T) {
	t.Parallel()
	server := new(pgtest.Server)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	first, database, second := openFile(t, dir, "1.db"), openDatabase(t, server, ""), openFile(t, dir, "2.db")
	divided, whole := openDatabase(t, server, "&parts=8"), openDatabase(t, server, "")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	origin := sequent.NewMemoryStore()
	for round := range 2 {
		fill(t, origin, rand.New(rand.NewPCG(uint64(round), seed)), 80, long.AddDate(0, round, 0))
		copyAll(t, origin, first)
		for _, step := range [][2]sequent.Store{{first, database}, {database, divided}, {divided, whole}, {whole, second}} {
			if sum, _ := copyAll(t, step[0], step[1]); sum.Added == 0 && sum.Extended == 0 || sum.Failed > 0 {
				t.Errorf("Copy = %+v", sum)
			}
			if sum, _ := copyAll(t, step[0], step[1]); sum.Added+sum.Extended+sum.Failed+sum.Thoughts > 0 || sum.Unchanged == 0 {
				t.Errorf("the second Copy = %+v, want all unchanged", sum)
			}
		}
		sessions, thoughts := same(t, origin, database)
		same(t, origin, divided)
		same(t, origin, second)
		t.Logf("%d sessions, %d thoughts", sessions, thoughts)
	}

	// The copies can be searched and continued.
	engine := sequent.New(sequent.Config{Store: database})
	hits, err := engine.Search(t.Context(), sequent.SearchQuery{Text: "plain", AllOwners: true})
	if err != nil || len(hits.Hits) == 0 {
		t.Fatalf("Search finds %d thoughts, error %v", len(hits.Hits), err)
	}
	h := hits.Hits[0].Key
	if _, err := engine.Owned(h.Owner).Ensure(t.Context(), h.ID, func(c *sequent.Change) error {
		n := c.Session().Len() + 1
		_, err := c.Append(sequent.Draft{Number: n, Total: n, Text: "on"})
		return err
	}); err != nil {
		t.Error(err)
	}
}

// BenchmarkCopy measures a copy of 10,000 sessions of three thoughts from a file
// to a database, the same copy again, and a copy back.
func BenchmarkCopy(b *testing.B) {
	const sessions = 10_000
	server := &pgtest.Server{Durable: true}
	b.Cleanup(func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	})
	dir := b.TempDir()
	first, database, second := openFile(b, dir, "1.db"), openDatabase(b, server, ""), openFile(b, dir, "2.db")
	origin := sequent.NewMemoryStore()
	engine := sequent.New(sequent.Config{Store: origin})
	for i := range sessions {
		if _, err := engine.Begin(b.Context(), sequent.ID(fmt.Sprint(i)), func(c *sequent.Change) error {
			for n := range 3 {
				if _, err := c.Append(sequent.Draft{Number: n + 1, Total: 3, Text: fmt.Sprint("a thought ", i, n), More: n < 2}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := Copy(b.Context(), Config{From: origin, To: first}); err != nil {
		b.Fatal(err)
	}
	for _, step := range []struct {
		name     string
		from, to sequent.Store
	}{{"into", first, database}, {"unchanged", first, database}, {"back", database, second}} {
		b.Run(step.name, func(b *testing.B) {
			begun := time.Now()
			sum, err := Copy(b.Context(), Config{From: step.from, To: step.to})
			if err != nil || sum.Added+sum.Unchanged != sessions {
				b.Errorf("Copy = %+v, error %v", sum, err)
			}
			b.ReportMetric(sessions/time.Since(begun).Seconds(), "sessions/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// Sessions get another owner in a file and in a database, also while other processes write
// to them.
func TestRenameInStores(t *testing.T) {
	t.Parallel()
	server := new(pgtest.Server)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	database := func(parts string) func() sequent.Store {
		url := server.Schema(t) + parts
		return func() sequent.Store {
			s, err := postgres.Open(t.Context(), postgres.Config{URL: url})
			return opened(t, s, err)
		}
	}
	file := func() func() sequent.Store {
		dir := t.TempDir()
		return func() sequent.Store { return openFile(t, dir, "s.db") }
	}
	testRename(t, file()())
	testRename(t, database("")())
	testRename(t, database("&parts=8")())
	testRenameWhileWritten(t, file())
	testRenameWhileWritten(t, database("&parts=8")) // owners are spread over them
}

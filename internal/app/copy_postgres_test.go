//go:build unix

package app

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// Sessions go from a file into a database and back into another file, and nothing
// of them changes on the way.
func TestCopyBetweenStores(t *testing.T) {
	t.Parallel()
	server := new(pgtest.Server)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	first, database, second := filepath.Join(dir, "1.db"), server.Schema(t), filepath.Join(dir, "2.db")
	open := func(store string) *App {
		t.Helper()
		a, err := Open(t.Context(), Config{Store: store, Sync: "normal"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
		return a
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	origin, a := sequent.NewMemoryStore(), open(first)
	steps := [][2]string{{first, database}, {database, second}}
	for round := range 2 {
		fill(t, origin, rand.New(rand.NewPCG(uint64(round), seed)), 80, long.AddDate(0, round, 0))
		copyAll(t, origin, a.store)
		for _, step := range steps {
			sum, err := Copy(t.Context(), Config{Sync: "normal"}, CopyConfig{From: step[0], To: step[1]})
			if err != nil || sum.Added == 0 && sum.Extended == 0 || sum.Failed > 0 {
				t.Errorf("Copy = %+v, error %v", sum, err)
			}
			sum, err = Copy(t.Context(), Config{Sync: "normal"}, CopyConfig{From: step[0], To: step[1]})
			if err != nil || sum.Added+sum.Extended+sum.Failed+sum.Thoughts > 0 || sum.Unchanged == 0 {
				t.Errorf("the second Copy = %+v, error %v; want all unchanged", sum, err)
			}
		}
		sessions, thoughts := same(t, origin, open(database).store)
		same(t, origin, open(second).store)
		t.Logf("%d sessions, %d thoughts", sessions, thoughts)
	}

	// They are found there, and can be gone on with.
	b := open(database)
	hits, err := b.Engine.Search(t.Context(), sequent.SearchQuery{Text: "plain", AllOwners: true})
	if err != nil || len(hits.Hits) == 0 {
		t.Errorf("Search finds %d thoughts, error %v", len(hits.Hits), err)
	}
	h := hits.Hits[0].Key
	if _, err := b.Engine.Owned(h.Owner).Ensure(t.Context(), h.ID, func(c *sequent.Change) error {
		n := c.Session().Len() + 1
		_, err := c.Append(sequent.Draft{Number: n, Total: n, Text: "on"})
		return err
	}); err != nil {
		t.Error(err)
	}
}

// BenchmarkCopy measures how long 10,000 sessions of three thoughts take from a
// file into a database, when they are there already, and back.
func BenchmarkCopy(b *testing.B) {
	const sessions = 10_000
	server := &pgtest.Server{Durable: true}
	defer func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	}()
	dir := b.TempDir()
	first, database, second := filepath.Join(dir, "1.db"), server.Schema(b), filepath.Join(dir, "2.db")
	a := openAt(b, first, 0)
	old(b, a.store, sessions)
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
	for _, step := range [][3]string{
		{"into", first, database}, {"unchanged", first, database}, {"back", database, second},
	} {
		b.Run(step[0], func(b *testing.B) {
			begun := time.Now()
			sum, err := Copy(b.Context(), Config{}, CopyConfig{From: step[1], To: step[2]})
			if err != nil || sum.Added+sum.Unchanged != sessions {
				b.Errorf("Copy = %+v, error %v", sum, err)
			}
			b.ReportMetric(sessions/time.Since(begun).Seconds(), "sessions/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

//go:build unix

package app

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// opens returns a store that is closed at the end of the test.
func opens(t *testing.T, store string) sequent.Store {
	t.Helper()
	a, err := Open(t.Context(), Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a.store
}

// Sessions are copied from a file to a database and back to another file without a change.
func TestCopyBetweenStores(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	server := new(pgtest.Server)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	first, database, second := opens(t, filepath.Join(dir, "1.db")), opens(t, server.Schema(t)), opens(t, filepath.Join(dir, "2.db"))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	origin := sequent.NewMemoryStore()
	for round := range 2 {
		fill(t, origin, rand.New(rand.NewPCG(uint64(round), seed)), 30, long.AddDate(0, round, 0))
		copyAll(t, origin, first)
		for _, step := range [][2]sequent.Store{{first, database}, {database, second}} {
			if sum, _ := copyAll(t, step[0], step[1]); sum[archive.Added] == 0 && sum[archive.Extended] == 0 || sum[archive.Failed] > 0 {
				t.Errorf("Copy = %+v", sum)
			}
			if sum, _ := copyAll(t, step[0], step[1]); sum[archive.Added]+sum[archive.Extended]+sum[archive.Failed] > 0 || sum[archive.Unchanged] == 0 {
				t.Errorf("the second Copy = %+v, want all unchanged", sum)
			}
		}
		sessions, thoughts := same(t, origin, database)
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
		_, err := c.Append(sequent.Draft{Number: n, Total: n, Text: "on", Final: true})
		return err
	}); err != nil {
		t.Error(err)
	}
}

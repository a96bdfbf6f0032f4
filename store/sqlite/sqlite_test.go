package sqlite

import (
	"fmt"
	goversion "go/version"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) sequent.Store { return openAt(t, filepath.Join(t.TempDir(), "sessions.db")) },
		Reopen: func(t *testing.T, s sequent.Store) sequent.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return openAt(t, s.(*Store).path)
		},
		Second: func(t *testing.T, s sequent.Store) sequent.Store { return openAt(t, s.(*Store).path) },
	})
}

// openAt opens the store in a file.
func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Before 3.51.3, SQLite lost committed data when two connections wrote and checkpointed at the
// same time.
func TestVersion(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "sessions.db"))
	defer s.Close()
	var have string
	if err := s.file.readers.QueryRow("SELECT sqlite_version()").Scan(&have); err != nil {
		t.Fatal(err)
	}
	if goversion.Compare("go"+have, "go3.51.3") < 0 {
		t.Errorf("SQLite %s, want 3.51.3 or later", have)
	}
}

// A search that ranks few thoughts finds the newest ones.
func TestCandidates(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "sessions.db"))
	defer s.Close()
	for n := range 5 {
		fill(t, s, fmt.Sprint(n), 1, "needle")
	}
	for candidates, want := range map[int]string{0: "[4 3 2 1 0]", -1: "[4 3 2 1 0]", 2: "[4 3]", 9999: "[4 3 2 1 0]"} {
		found, err := s.Search(t.Context(), sequent.SearchQuery{Text: "needle", Candidates: candidates})
		var ids []sequent.ID
		for _, h := range found.Hits {
			ids = append(ids, h.Key.ID)
		}
		if got := fmt.Sprint(ids); err != nil || got != want {
			t.Errorf("%d candidates: got %s, want %s, error %v", candidates, got, want, err)
		}
	}
}

package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

// openAt opens a store that the caller closes.
func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatalf("Open(%s): %v", path, err)
	}
	return s
}

// covers: 000/store-replaceable 002/future-database
func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) sequent.Store {
			return openAt(t, filepath.Join(t.TempDir(), "sessions.db"))
		},
		Reopen: func(t *testing.T, s sequent.Store) sequent.Store {
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			return openAt(t, s.(*Store).path)
		},
		Second: func(t *testing.T, s sequent.Store) sequent.Store {
			return openAt(t, s.(*Store).path)
		},
	})
}

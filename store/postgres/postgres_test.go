//go:build unix

package postgres

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/storetest"
)

// server is shared by the tests that do not stop it.
var server pgtest.Server

func TestMain(m *testing.M) {
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// openAt opens a store that the caller closes.
func openAt(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{URL: url, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) sequent.Store { return openAt(t, server.Schema(t)) },
		Reopen: func(t *testing.T, s sequent.Store) sequent.Store {
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			return openAt(t, s.(*Store).config.ConnString())
		},
		Second: func(t *testing.T, s sequent.Store) sequent.Store {
			return openAt(t, s.(*Store).config.ConnString())
		},
	})
}

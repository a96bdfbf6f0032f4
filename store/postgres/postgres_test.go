//go:build unix

package postgres

import (
	"errors"
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
	if err := errors.Join(server.Stop(), citus.Stop()); err != nil {
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

// TestParts checks a store with more parts.
func TestStore(t *testing.T) {
	for _, parts := range []int{1, 4} {
		t.Run(fmt.Sprint(parts), func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, storetest.Harness{
				Open: func(t *testing.T) sequent.Store { return openAt(t, withParts(server.Schema(t), parts)) },
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
		})
	}
}

// withParts returns the address of a store with a number of parts.
func withParts(address string, parts int) string {
	if parts == 1 {
		return address
	}
	return fmt.Sprintf("%s&parts=%d", address, parts)
}

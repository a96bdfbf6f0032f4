//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/storetest"
)

// Servers are shared by the tests that do not stop them.
var (
	server pgtest.Server
	citus  pgtest.Citus
)

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

func harness(schema func(testing.TB) string) storetest.Harness {
	return storetest.Harness{
		Open: func(t *testing.T) sequent.Store { return openAt(t, schema(t)) },
		Reopen: func(t *testing.T, s sequent.Store) sequent.Store {
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
			return openAt(t, s.(*Store).config.ConnString())
		},
		Second: func(t *testing.T, s sequent.Store) sequent.Store { return openAt(t, s.(*Store).config.ConnString()) },
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness(server.Schema))
}

// TestCitus runs the suite on a cluster with two workers: some groups, and with SEQUENT_LONG=1 all,
// because each test makes its tables there.
func TestCitus(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	h := harness(citus.Schema)
	h.Skip = func(group, _ string) bool {
		return os.Getenv("SEQUENT_LONG") == "" && !slices.Contains([]string{"Load", "Commit", "Shared", "Search", "Owner"}, group)
	}
	storetest.Run(t, h)
}

// adding returns a change that appends a thought.
func adding(text string) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Total: 1, Text: text})
		return err
	}
}

// execute runs statements on a database without the store.
func execute(t testing.TB, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, text := range statements {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// eventually waits until a condition holds, for a minute at most.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.After(time.Minute); !holds(); {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatalf("timeout: %s", what)
		}
	}
}

//go:build unix

package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

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

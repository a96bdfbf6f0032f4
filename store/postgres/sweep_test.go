//go:build unix

package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// TestKillSweep ends the connections of a sweep, which retention is, again and again. What is
// left is whole, and the sweep ends.
func TestKillSweep(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	address := server.Schema(t)
	s := openAt(t, address+"&application_name=sweep") // other tests use the server, too
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})
	const sessions = 100
	for i := range sessions {
		for range 3 {
			if _, err := e.Ensure(t.Context(), sequent.ID(fmt.Sprint(i)), adding("heron")); err != nil {
				t.Fatal(err)
			}
		}
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	done := make(chan error, 1)
	deleted := 0
	go func() {
		for {
			n, err := e.Sweep(t.Context(), sequent.Query{Before: time.Now().Add(time.Hour)})
			if deleted += n; err == nil || !sequent.IsUncertain(err) && sequent.CodeOf(err) != sequent.CodeUnavailable {
				done <- err
				return
			}
		}
	}()
	killed, left := 0, sessions
	for ended := false; !ended; {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Sweep = %v", err)
			}
			ended = true
		case <-time.After(time.Millisecond):
			if killed >= 8 {
				continue
			}
			var n int
			if err := conn.QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE application_name = 'sweep' AND (state LIKE 'idle in transaction%' OR query LIKE 'DELETE FROM tool_%')`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			killed += n
		}
		page, err := e.Sessions(t.Context(), sequent.Query{Limit: sessions})
		if err != nil {
			continue // its connection was ended
		}
		if len(page.Headers) > left {
			t.Fatalf("%d sessions, %d before", len(page.Headers), left)
		}
		left = len(page.Headers)
		for _, h := range page.Headers[:min(left, 5)] {
			if s, err := e.Session(t.Context(), h.ID); err == nil && s.Fault() != nil {
				t.Fatalf("session %s: %v", h.ID, s.Fault())
			}
		}
	}
	var rows int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM tool_log").Scan(&rows); err != nil || rows > 0 {
		t.Errorf("%d entries are left of deleted sessions, %v", rows, err)
	}
	t.Logf("%d connections ended, %d sessions reported as deleted", killed, deleted)
}

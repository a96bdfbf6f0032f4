//go:build unix

package postgres

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// latencies has clients append, each to a session of its own, until stop is closed.
// It returns how long the appends took, sorted.
func latencies(t *testing.T, e *sequent.Engine, clients int, stop <-chan struct{}) []time.Duration {
	t.Helper()
	took := make([][]time.Duration, clients)
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				start := time.Now()
				if _, err := e.Ensure(t.Context(), sequent.ID(fmt.Sprint("own ", client)), adding(fmt.Sprint(n))); err != nil {
					t.Error(err)
					return
				}
				took[client] = append(took[client], time.Since(start))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	if len(all) < 100 {
		t.Fatalf("only %d appends", len(all))
	}
	return all
}

func late(all []time.Duration) time.Duration { return all[len(all)*99/100] }

// TestLockedRow locks sessions for some time, while clients append to them and to
// others: first a session that exists, then one that is being inserted.
func TestLockedRow(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	s := openAt(t, url)
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})
	if _, err := e.Ensure(t.Context(), "locked", adding("0")); err != nil {
		t.Fatal(err)
	}
	during := func(d time.Duration) []time.Duration {
		stop := make(chan struct{})
		time.AfterFunc(d, func() { close(stop) })
		return latencies(t, e, 8, stop)
	}
	locked := 3 * time.Second
	if os.Getenv("SEQUENT_LONG") != "" {
		locked = 15 * time.Second
	}
	undisturbed := during(locked / 2) // and as long afterwards, because a table grows and the indexer works

	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT FROM tool_sessions WHERE id = 'locked' FOR UPDATE",
		`INSERT INTO tool_sessions (owner, id, epoch, version, len, updated, period, created, scope, state, title, dialect, conclusion, labels)
			VALUES ('', 'new', 1, 1, 0, 0, 0, 0, '', 'active', '', '', '', '')`,
	} {
		if _, err := tx.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	const writers = 4
	failed := make(chan error, 2*writers)
	for i := range writers {
		for _, id := range []sequent.ID{"locked", "new"} {
			go func() {
				_, err := e.Ensure(t.Context(), id, adding(fmt.Sprint("late ", i)))
				failed <- err
			}()
		}
	}
	disturbed := during(locked)
	if n := len(failed); n > 0 {
		t.Errorf("%d appends to locked sessions ended while they were locked, the first with %v", n, <-failed)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range cap(failed) {
		select {
		case err := <-failed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("appends to the sessions did not end within 20 s after the lock")
		}
	}
	for id, want := range map[sequent.ID]int{"locked": 1 + writers, "new": writers} {
		if got, err := e.Session(t.Context(), id); err != nil || got.Len() != want {
			t.Errorf("Session(%s) = %d thoughts, %v, want %d", id, got.Len(), err, want)
		}
	}
	undisturbed = append(undisturbed, during(locked/2)...)
	slices.Sort(undisturbed)
	t.Logf("of %d appends to other sessions undisturbed, the slowest 1%% took %v or more; while sessions were locked for %v, of %d, %v or more, and at most %v",
		len(undisturbed), late(undisturbed), locked, len(disturbed), late(disturbed), disturbed[len(disturbed)-1])
	// On a quiet machine the ratio is 1; see docs/benchmarks-postgres.md.
	if limit := max(2*late(undisturbed), locked/2); late(disturbed) > limit { // if they waited for it, it would be all of it
		t.Errorf("the slowest 1%% of appends to other sessions took %v or more, want at most %v", late(disturbed), limit)
	}
}

package app

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A clock that jumps ahead deletes nothing, in any store; the right one does.
func TestClockJumpsAhead(t *testing.T) {
	file, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "s.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, store := range map[string]sequent.Store{"memory": sequent.NewMemoryStore(), "sqlite": file} {
		t.Run(name, func(t *testing.T) {
			const day = 24 * time.Hour
			clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			e := sequent.New(sequent.Config{Store: store, TTL: 5 * day, Now: func() time.Time { return clock }})
			var log bytes.Buffer
			a := App{Engine: e, store: store, config: Config{Retain: 10 * day}, logger: slog.New(slog.NewTextHandler(&log, nil))}
			sweep := func(want int, warned bool) {
				t.Helper()
				n, err := a.sweep(t.Context())
				if err != nil || n != want || strings.Contains(log.String(), "check the clock") != warned {
					t.Errorf("Sweep at %v = %d, %v, log %q; want %d and a warning: %t", clock, n, err, &log, want, warned)
				}
				log.Reset()
			}
			begin := func(id sequent.ID) {
				t.Helper()
				_, err := e.Begin(t.Context(), id, func(c *sequent.Change) error {
					_, err := c.Append(sequent.Draft{Text: "one"})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			sweep(0, false)
			begin("a")
			start := clock
			clock = start.Add(365 * day)
			sweep(0, true)
			clock = start.Add(30*day + time.Second)
			sweep(0, true)
			clock = start.Add(time.Minute)
			if _, err := e.Session(t.Context(), "a"); err != nil {
				t.Errorf("the session after the jump: %v", err)
			}
			clock = start.Add(20 * day)
			sweep(1, false)
			begin("b")
			sweep(0, false)
		})
	}
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// operations are what TestKillOperations kills. Restore restores two backups in turns, and sweep
// deletes what is older than now, which is all.
var operations = map[string]func(ctx context.Context, path string, n int) error{
	"backup": func(ctx context.Context, path string, _ int) error {
		_, err := Backup(ctx, BackupConfig{From: path, To: path + ".bak", Force: true})
		return err
	},
	"restore": func(ctx context.Context, path string, n int) error {
		_, err := Restore(ctx, BackupConfig{From: fmt.Sprint(path, ".", n%2), To: path, Force: true})
		return err
	},
	"sweep": func(ctx context.Context, path string, _ int) error {
		s, err := openChild(ctx)
		if err == nil {
			_, err = s.Sweep(ctx, sequent.Query{AllOwners: true, Before: time.Now().Add(time.Hour)}, 1)
			err = errors.Join(err, s.Close())
		}
		return err
	},
}

// operationTask repeats an operation and prints a line after each, until the process is killed or
// the parent is gone.
func operationTask() error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for n := 0; ; n++ {
		if err := operations[os.Getenv(childName)](context.Background(), os.Getenv(childStore), n); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// killed starts a child and kills it: in every other round when it begins to change a file,
// otherwise after some lines and a bit. It returns when the child has ended.
func killed(t *testing.T, round int, operation, path, file string) {
	t.Helper()
	c := start(t, "operation", childStore+"="+path, childName+"="+operation)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); round%2 == 0; {
		if now, err := os.Stat(file); err != nil || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s was not changed within a minute", file)
		}
	}
	if round%2 != 0 {
		for range rand.IntN(3) {
			c.line(t)
		}
		<-time.After(rand.N(20 * time.Millisecond))
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for c.lines.Scan() {
	}
	if err := c.cmd.Wait(); err == nil || c.errors.Len() > 0 {
		t.Fatalf("the child ended before it was killed: %v: %s", err, c.errors)
	}
}

// whole checks that each session of a store is as it was recorded and found by its words, and
// returns the number of sessions. Each has three thoughts.
func whole(t *testing.T, path string) int {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	intact(t, s)
	page, err := s.List(t.Context(), sequent.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range page.Headers {
		h, log, err := s.Load(t.Context(), h.Key, sequent.Position{})
		if v := sequent.Verify(h, log); err != nil || v.Fault != nil || h.Len != 3 {
			t.Errorf("session %s: %d thoughts, %v, %v", h.ID, h.Len, v.Fault, err)
		}
	}
	finds(t, s, "heron", 3*len(page.Headers))
	var orphans int
	if err := s.file.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM tool_log WHERE session NOT IN (SELECT key FROM tool_sessions)").Scan(&orphans); err != nil || orphans > 0 {
		t.Errorf("%d entries of no session, %v", orphans, err)
	}
	return len(page.Headers)
}

// TestKillOperations kills backup, restore and sweep, which retention is, in the middle. What they
// leave is whole: the store, and the backup before.
func TestKillOperations(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	fillSessions := func(t *testing.T, path string, n int) {
		t.Helper()
		s := openAt(t, path)
		for i := range n {
			fill(t, s, fmt.Sprint(i), 3, "heron")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	rounds := 10
	if long() {
		rounds = 100
	}
	t.Run("backup", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.db")
		fillSessions(t, path, 200)
		if _, err := Backup(t.Context(), BackupConfig{From: path, To: path + ".bak"}); err != nil {
			t.Fatal(err)
		}
		for i := range rounds {
			killed(t, i, "backup", path, path+".bak")
			if a, b := whole(t, path), whole(t, path+".bak"); a != 200 || b != 200 {
				t.Fatalf("%d sessions and %d in the backup, want 200", a, b)
			}
		}
	})
	t.Run("restore", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.db")
		for i, n := range []int{100, 60} {
			from := fmt.Sprint(path, ".from", i)
			fillSessions(t, from, n)
			if _, err := Backup(t.Context(), BackupConfig{From: from, To: fmt.Sprint(path, ".", i)}); err != nil {
				t.Fatal(err)
			}
		}
		fillSessions(t, path, 60)
		for i := range rounds {
			killed(t, i, "restore", path, path)
			if n := whole(t, path); n != 100 && n != 60 {
				t.Fatalf("%d sessions, want those of one backup", n)
			}
		}
	})
	t.Run("sweep", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.db")
		fillSessions(t, path, 200)
		left := 200
		for i := range rounds {
			killed(t, 2*i+1, "sweep", path, path)
			n := whole(t, path)
			if n > left {
				t.Fatalf("%d sessions after a sweep, %d before", n, left)
			}
			left = n
		}
		t.Logf("%d sessions are left after %d rounds", left, rounds)
	})
}

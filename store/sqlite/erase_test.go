package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// canary is a word that only deleted sessions have.
const canary = "xqzcanary"

// leaks returns the files of the store that hold text, with the number of times.
func leaks(t *testing.T, path, text string) (found []string) {
	t.Helper()
	files, err := filepath.Glob(strings.TrimSuffix(path, ".db") + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(bytes.ToLower(data), []byte(text)); n > 0 {
			found = append(found, fmt.Sprintf("%s: %d", filepath.Base(name), n))
		}
	}
	return found
}

// secrets records sessions that have the canary in every field, some with one long
// thought and some with many changes, between sessions that are kept.
func secrets(t *testing.T, s *Store, sessions, thoughts int) {
	t.Helper()
	e := sequent.New(sequent.Config{Store: s})
	for i := range sessions {
		for _, word := range []string{canary, "heron"} {
			id := sequent.ID(fmt.Sprintf("%s-%d", word, i))
			for j := range thoughts {
				_, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
					if j == 0 {
						c.BeginIn(word+fmt.Sprint(" scope ", i), "standard")
						c.SetLabel(word+"-label", word+" value")
					}
					_, err := c.Append(sequent.Draft{
						Text: strings.Repeat(fmt.Sprintf("%s text %d ", word, j), 1+(i*j)%40), Note: word + " note", Branch: strings.Repeat(word, j%2),
						More: j < thoughts-1, Request: sequent.Request{Key: fmt.Sprint(word, "key", j), Digest: word},
						Labels: map[string]string{word: word},
					})
					c.Conclude(strings.Repeat(word+" conclusion ", 1+(i*7+j*3)%25))
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// No file of the store holds a byte of a deleted session, while the store is open.
func TestDeletedTextIsGone(t *testing.T) {
	t.Parallel()
	e := func(s *Store) *sequent.Engine { return sequent.New(sequent.Config{Store: s}) }
	for name, remove := range map[string]func(ctx context.Context, s *Store) error{
		"delete": func(ctx context.Context, s *Store) error {
			for i := range 25 {
				if err := e(s).Delete(ctx, sequent.ID(fmt.Sprintf("%s-%d", canary, i))); err != nil {
					return err
				}
			}
			return nil
		},
		"all": func(ctx context.Context, s *Store) error {
			_, err := e(s).DeleteAll(ctx)
			return err
		},
		"retain": func(ctx context.Context, s *Store) error {
			_, err := e(s).SweepUnchanged(ctx, time.Now().Add(time.Hour))
			return err
		},
		"sweep": func(ctx context.Context, s *Store) error {
			_, err := s.Sweep(ctx, sequent.SweepQuery{}, 1000)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
			secrets(t, s, 25, 12)
			catchUp(t, s)
			if len(leaks(t, s.path, canary)) < 2 {
				t.Fatal("the canary is not in the store and its index")
			}
			if err := remove(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if r, err := s.Erase(t.Context()); err != nil || r != (Residue{}) {
				t.Fatalf("Erase = %+v, %v, want nothing left", r, err)
			}
			if found := leaks(t, s.path, canary); len(found) > 0 {
				t.Errorf("the text of deleted sessions is in %v", found)
			}
			if name == "delete" {
				finds(t, s, "heron", 25*12)
			}
			checkIntegrity(t, s.index.file.Writer)
		})
	}
}

// The files get smaller, and the indexer does it without being called.
func TestDeletionShrinksFiles(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	defer s.Close()
	size := func() (n int64) {
		for _, path := range []string{s.path, s.path + "-wal"} {
			if info, err := os.Stat(path); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	text := strings.Repeat("heron ", 300)
	for i := range 100 {
		fill(t, s, fmt.Sprint("s", i), 50, text)
	}
	before := size()
	for i := range 78 {
		if err := s.Delete(t.Context(), sequent.Key{ID: sequent.ID(fmt.Sprint("s", i))}, 0); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for size() > before/3 {
		select {
		case <-ctx.Done():
			t.Fatalf("the files have %d bytes a minute after the deletion, %d before", size(), before)
		case <-tick.C:
		}
	}
	t.Logf("%d KiB before, %d KiB after the deletion of 78 %%", before>>10, size()>>10)
}

// What another process reads is reported and not claimed, and is gone afterwards.
func TestEraseReportsReaders(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), slog.New(slog.DiscardHandler))
	secrets(t, s, 2, 3)
	other := openAt(t, s.path)
	defer other.Close()
	tx, err := other.readers.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM thoughts").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := sequent.New(sequent.Config{Store: s}).DeleteAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := s.Erase(t.Context())
	if err != nil || r.Log == 0 {
		t.Errorf("Erase with a reader = %+v, %v, want the size of the log", r, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Erase(t.Context()); err != nil || r != (Residue{}) {
		t.Errorf("Erase after the reader = %+v, %v, want nothing left", r, err)
	}
	if found := leaks(t, s.path, canary); len(found) > 0 {
		t.Errorf("the text of deleted sessions is in %v", found)
	}
}

// readTask reads the store until its input ends.
func readTask() error {
	ctx := context.Background()
	s, err := openChild(ctx)
	if err != nil {
		return err
	}
	tx, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM thoughts").Scan(&n); err != nil {
		return err
	}
	fmt.Println("reading")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, tx.Rollback(), s.Close())
}

// The process that keeps deleted text from leaving the log is named.
func TestEraseNamesReaders(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), slog.New(slog.DiscardHandler))
	secrets(t, s, 2, 3)
	c := start(t, "read", childStore+"="+s.path)
	c.line(t)
	if _, err := sequent.New(sequent.Config{Store: s}).DeleteAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := s.Erase(t.Context())
	if err != nil || r.Log == 0 {
		t.Errorf("Erase with a reader = %+v, %v, want the size of the log", r, err)
	}
	want := ""
	if runtime.GOOS == "linux" {
		want = fmt.Sprintf("(process %d)", c.cmd.Process.Pid)
	}
	if !strings.HasSuffix(r.HeldBy, want) || (r.HeldBy == "") != (want == "") {
		t.Errorf("Erase = %+v, want it to name %q", r, want)
	}
	c.wait(t)
	if r, err := s.Erase(t.Context()); err != nil || r != (Residue{}) {
		t.Errorf("Erase after the reader = %+v, %v, want nothing left", r, err)
	}
}

// SQLite leaves copies of rows in pages that it has split. Erase overwrites them.
func TestEraseClearsGaps(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	e := sequent.New(sequent.Config{Store: s})
	rng := rand.New(rand.NewPCG(5, 1))
	for range 600 {
		id := sequent.ID(fmt.Sprintf("%s%d", canary, rng.IntN(60)))
		_, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
			c.Conclude(strings.Repeat(string(id)+" ", rng.IntN(150)))
			_, err := c.Append(sequent.Draft{Text: strings.Repeat(string(id)+" ", 1+rng.IntN(30)), More: true})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if gaps, err := findGaps(t.Context(), s.readers); err != nil || len(gaps) == 0 {
		t.Fatalf("%d pages with copies, error %v; the test needs some", len(gaps), err)
	}
	gone := sequent.ID(canary + "7")
	if err := e.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Erase(t.Context()); err != nil || r != (Residue{}) {
		t.Fatalf("Erase = %+v, %v, want nothing left", r, err)
	}
	if gaps, err := findGaps(t.Context(), s.readers); err != nil || len(gaps) > 0 {
		t.Errorf("%d pages with copies, error %v; want none", len(gaps), err)
	}
	if found := leaks(t, s.path, string(gone)+" "); len(found) > 0 {
		t.Errorf("the text of a deleted session is in %v", found)
	}
	intact(t, s)
}

// A file of an older version reports its layout. Compact removes the text that was
// deleted from it, and afterwards it is like a new one.
func TestCompactOldLayout(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	s := openIndexed(t, path, nil)
	secrets(t, s, 10, 5)
	raw(t, path, "PRAGMA auto_vacuum=NONE", "VACUUM") // on one connection
	raw(t, path, "PRAGMA secure_delete=OFF", "DELETE FROM thoughts WHERE text LIKE '"+canary+"%'",
		"DELETE FROM tool_sessions WHERE id LIKE '"+canary+"%'")
	r, err := s.Erase(t.Context())
	if err != nil || r != (Residue{OldLayout: true}) {
		t.Errorf("Erase = %+v, %v, want the old layout", r, err)
	}
	if found := leaks(t, path, canary); len(found) == 0 {
		t.Fatal("the test needs text in unused space")
	}
	other := openAt(t, path)
	defer other.Close()
	fill(t, other, "before", 20, "heron")
	c, err := s.Compact(t.Context(), nil)
	if err != nil || c.Residue != (Residue{}) || c.After >= c.Before {
		t.Errorf("Compact = %+v, %v, want a smaller file and nothing left", c, err)
	}
	if found := leaks(t, path, canary); len(found) > 0 {
		t.Errorf("the text of deleted sessions is in %v", found)
	}
	if r, err := s.Erase(t.Context()); err != nil || r != (Residue{}) {
		t.Errorf("Erase = %+v, %v, want nothing left", r, err)
	}
	fill(t, other, "after", 200, "heron")
	if err := s.Delete(t.Context(), sequent.Key{ID: "before"}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Erase(t.Context()); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "heron", 250)
	intact(t, s)
}

package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestIndexDeletedWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open cannot be deleted here")
	}
	t.Parallel()
	for _, suffixes := range [][]string{{""}, {"", "-wal", "-shm"}, {"", "-wal", "-shm", ".lock"}} {
		t.Run(fmt.Sprint(len(suffixes)), func(t *testing.T) {
			t.Parallel()
			s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
			other := openIndexed(t, s.path, nil)
			fill(t, s, "a", 30, "heron")
			catchUp(t, s)
			finds(t, other, "heron", 30)
			for _, suffix := range suffixes {
				if err := os.Remove(s.index.path + suffix); err != nil {
					t.Fatal(err)
				}
			}
			finds(t, s, "heron", 30)
			fill(t, other, "b", 4, "heron")
			finds(t, s, "heron", 34)
			catchUp(t, s)
			finds(t, s, "heron", 34)
			finds(t, other, "heron", 34)
			if st := stateOf(t, other); st.docs != 34 {
				t.Errorf("the other handle sees %+v, want 34 documents", st)
			}
		})
	}
}

func TestIndexDamaged(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 64<<10)
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	over := func(from int) func([]byte) []byte {
		return func(b []byte) []byte {
			copy(b[min(from, len(b)):], noise)
			return b
		}
	}
	for name, damage := range map[string]func(index []byte) []byte{
		"empty":         func([]byte) []byte { return nil },
		"noise":         func([]byte) []byte { return noise },
		"text":          func([]byte) []byte { return []byte("this is no index\n") },
		"header":        over(0),
		"first page":    over(100),
		"pages":         over(4096),
		"later pages":   over(3 * 4096),
		"half":          func(b []byte) []byte { return b[:len(b)/2/4096*4096] },
		"version 0":     func(b []byte) []byte { copy(b[60:], []byte{0, 0, 0, 0}); return b },
		"not a version": func(b []byte) []byte { copy(b[60:], []byte{0x80, 0, 0, 0}); return b },
	} {
		for _, open := range []string{"closed", "open"} {
			t.Run(name+", "+open, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "s.db")
				var log bytes.Buffer
				s := openIndexed(t, path, slog.New(slog.NewTextHandler(&log, nil)))
				fill(t, s, "a", 250, "heron with a few more words to fill pages "+strings.Repeat("filler ", 20))
				catchUp(t, s)
				f := s.index.takeFile(false) // checkpoints
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if open == "open" {
					stateOf(t, s)
				}
				index, err := os.ReadFile(s.index.path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(s.index.path, damage(index), 0o600); err != nil {
					t.Fatal(err)
				}
				fill(t, s, "b", 5, "heron")
				finds(t, s, "heron b", 5)
				if err := s.index.catchUp(t.Context()); err != nil {
					t.Errorf("catchUp: %v", err)
				}
				finds(t, s, "heron", 255)
				if err := s.index.catchUp(t.Context()); err != nil {
					t.Errorf("catchUp: %v", err)
				}
				finds(t, s, "heron b", 5)
				wholeIndex(t, s.index.file.Writer)
				if st := stateOf(t, s); st.docs != 255 {
					t.Errorf("the index is at %+v, want 255 documents", st)
				}
				// What an open index holds in memory, or what is empty, needs no repair.
				unseen := open == "open" && strings.Contains(name, "version") || name == "empty"
				if !unseen && !strings.Contains(log.String(), "level=WARN") {
					t.Errorf("the log says nothing of it: %q", &log)
				}
			})
		}
	}
}

// wholeIndex fails the test unless SQLite finds the index whole.
func wholeIndex(t *testing.T, db *sql.DB) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), "INSERT INTO words(words) VALUES ('integrity-check')"); err != nil {
		t.Errorf("integrity-check: %v", err)
	}
	var result string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity_check: %s, %v", result, err)
	}
}

// What is not ours to repair is left alone, and searches go on without it.
func TestIndexNotOurs(t *testing.T) {
	t.Parallel()
	for name, lay := range map[string]func(t *testing.T, path string){
		"newer": func(t *testing.T, path string) {
			execIn(t, path, fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; CREATE TABLE future(x)", indexApplicationID, indexVersion+1))
		},
		"of another program": func(t *testing.T, path string) {
			execIn(t, path, "CREATE TABLE recipes(x)")
		},
		"a directory": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.db")
			lay(t, indexPath(path))
			before := atIndexPath(t, indexPath(path))
			s := openIndexed(t, path, nil)
			fill(t, s, "a", 3, "heron")
			finds(t, s, "heron", 3)
			if err := s.index.catchUp(t.Context()); err == nil {
				t.Error("catchUp: no error")
			}
			finds(t, s, "heron", 3)
			if after := atIndexPath(t, indexPath(path)); after != before {
				t.Errorf("what lay there was changed: %q, before %q", after, before)
			}
		})
	}
}

func execIn(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func atIndexPath(t *testing.T, path string) string {
	t.Helper()
	if b, err := os.ReadFile(path); err == nil {
		return string(b)
	}
	entries, err := os.ReadDir(path)
	return fmt.Sprint(entries, err)
}

// The index of another store, and of this store before it was put back to an
// earlier state, is made anew.
func TestIndexOfAnotherStore(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	fill(t, s, "a", 5, "heron")
	catchUp(t, s)
	saved := filepath.Join(t.TempDir(), "copy.db")
	execIn(t, s.path, "VACUUM INTO '"+saved+"'")
	fill(t, s, "b", 5, "stork")
	catchUp(t, s)

	other := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	fill(t, other, "c", 20, "crane")
	for _, moved := range []*Store{openIndexed(t, saved, nil), other} {
		execIn(t, s.index.path, "VACUUM INTO '"+moved.index.path+"'")
		finds(t, moved, "stork", 0)
		catchUp(t, moved)
		finds(t, moved, "stork", 0)
		var want int64
		if err := moved.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM thoughts").Scan(&want); err != nil {
			t.Fatal(err)
		}
		if st := stateOf(t, moved); st.docs != want {
			t.Errorf("the index is at %+v, want %d documents", st, want)
		}
	}
}

func TestIndexHeldElsewhere(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	other := openIndexed(t, s.path, nil)
	if held, err := s.index.lock.TryLock(); err != nil || !held {
		t.Fatalf("TryLock: %t, %v", held, err)
	}
	fill(t, other, "a", 3, "heron")
	if err := other.index.catchUp(t.Context()); !errors.Is(err, errIndexHeld) {
		t.Errorf("catchUp: %v, want %v", err, errIndexHeld)
	}
	finds(t, other, "heron", 3)
	if err := s.index.lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	catchUp(t, other)
	finds(t, s, "heron", 3)
}

func TestIndexOfReadOnlyStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	s := openIndexed(t, path, nil)
	fill(t, s, "a", 3, "heron")
	readOnly := func() {
		t.Helper()
		r, err := Open(t.Context(), Config{Path: path, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		finds(t, r, "heron", 3)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(s.index.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	readOnly()
	if _, err := os.Stat(s.index.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store that is only read has made an index: %v", err)
	}
	catchUp(t, s)
	readOnly()
}

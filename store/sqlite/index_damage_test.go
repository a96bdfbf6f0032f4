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
		t.Skip("Windows does not remove open files")
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
				t.Errorf("the other Store has the index %+v, want 34 documents", st)
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
	noiseFrom := func(from int) func([]byte) []byte {
		return func(b []byte) []byte {
			copy(b[min(from, len(b)):], noise)
			return b
		}
	}
	for name, damage := range map[string]func(index []byte) []byte{
		"empty":         func([]byte) []byte { return nil },
		"noise":         func([]byte) []byte { return noise },
		"text":          func([]byte) []byte { return []byte("not an index\n") },
		"header":        noiseFrom(0),
		"first page":    noiseFrom(100),
		"pages":         noiseFrom(4096),
		"later pages":   noiseFrom(3 * 4096),
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
				f := s.index.detachFile(false)
				if err := f.Close(); err != nil { // checkpoints
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
				if err := s.index.update(t.Context()); err != nil {
					t.Errorf("update: %v", err)
				}
				finds(t, s, "heron", 255)
				if err := s.index.update(t.Context()); err != nil {
					t.Errorf("update: %v", err)
				}
				finds(t, s, "heron b", 5)
				checkIntegrity(t, s.index.file.Writer)
				if st := stateOf(t, s); st.docs != 255 {
					t.Errorf("the index is at %+v, want 255 documents", st)
				}
				// SQLite has the version of an open file in memory, and an empty file
				// is filled without a warning.
				silent := open == "open" && strings.Contains(name, "version") || name == "empty"
				if !silent && !strings.Contains(log.String(), "level=WARN") {
					t.Errorf("no warning in the log: %q", &log)
				}
			})
		}
	}
}

// checkIntegrity runs the integrity checks of FTS5 and SQLite on an index.
func checkIntegrity(t *testing.T, db *sql.DB) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), "INSERT INTO words(words) VALUES ('integrity-check')"); err != nil {
		t.Errorf("integrity-check: %v", err)
	}
	var result string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity_check = %s, %v", result, err)
	}
}

// A file of a newer version or another program is not changed, and searches work
// without an index.
func TestIndexNotOurs(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(t *testing.T, path string){
		"newer": func(t *testing.T, path string) {
			raw(t, path, fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; CREATE TABLE future(x)", indexApplicationID, indexVersion+1))
		},
		"of another program": func(t *testing.T, path string) {
			raw(t, path, "CREATE TABLE recipes(x)")
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
			setup(t, indexPath(path))
			before := read(t, indexPath(path))
			s := openIndexed(t, path, nil)
			fill(t, s, "a", 3, "heron")
			finds(t, s, "heron", 3)
			if err := s.index.update(t.Context()); err == nil {
				t.Error("update succeeded, want an error")
			}
			finds(t, s, "heron", 3)
			if after := read(t, indexPath(path)); after != before {
				t.Errorf("the file changed from %q to %q", before, after)
			}
		})
	}
}

// read returns the content of a file or the entries of a directory.
func read(t *testing.T, path string) string {
	t.Helper()
	if b, err := os.ReadFile(path); err == nil {
		return string(b)
	}
	entries, err := os.ReadDir(path)
	return fmt.Sprint(entries, err)
}

// An index of another store, or of this store before it was restored to an earlier
// state, is rebuilt.
func TestIndexOfAnotherStore(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	fill(t, s, "a", 5, "heron")
	catchUp(t, s)
	saved := filepath.Join(t.TempDir(), "copy.db")
	raw(t, s.path, "VACUUM INTO '"+saved+"'")
	fill(t, s, "b", 5, "stork")
	catchUp(t, s)

	other := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	fill(t, other, "c", 20, "crane")
	for _, wrong := range []*Store{openIndexed(t, saved, nil), other} {
		raw(t, s.index.path, "VACUUM INTO '"+wrong.index.path+"'")
		finds(t, wrong, "stork", 0)
		catchUp(t, wrong)
		finds(t, wrong, "stork", 0)
		var want int64
		if err := wrong.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM thoughts").Scan(&want); err != nil {
			t.Fatal(err)
		}
		if st := stateOf(t, wrong); st.docs != want {
			t.Errorf("the index is at %+v, want %d documents", st, want)
		}
	}
}

func TestIndexLocked(t *testing.T) {
	t.Parallel()
	s := openIndexed(t, filepath.Join(t.TempDir(), "s.db"), nil)
	other := openIndexed(t, s.path, nil)
	if held, err := s.index.lock.TryLock(); err != nil || !held {
		t.Fatalf("TryLock: %t, %v", held, err)
	}
	fill(t, other, "a", 3, "heron")
	if err := other.index.update(t.Context()); !errors.Is(err, errIndexLocked) {
		t.Errorf("update = %v, want %v", err, errIndexLocked)
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
		t.Errorf("a read-only store created an index: %v", err)
	}
	catchUp(t, s)
	readOnly()
}

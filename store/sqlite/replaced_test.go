package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// TestFileReplaced replaces the file, or its rows, under two Stores that use it. What they do then
// is in the new file, and the old one keeps what was acknowledged.
func TestFileReplaced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not replace open files")
	}
	for name, suffixes := range map[string][]string{"with its log": {"", "-wal", "-shm"}, "alone": {""}, "its rows": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, backup := filepath.Join(dir, "sessions.db"), filepath.Join(dir, "backup.db")
			a := openAt(t, path)
			defer a.Close()
			appendTo(t, a, 3)
			if _, err := Backup(t.Context(), BackupConfig{From: path, To: backup}); err != nil {
				t.Fatal(err)
			}
			b := openAt(t, path)
			defer b.Close()
			first, second := sequent.New(sequent.Config{Store: a}), sequent.New(sequent.Config{Store: b})
			for _, e := range []*sequent.Engine{first, second} {
				if _, err := e.Update(t.Context(), "a", adding("lost")); err != nil {
					t.Fatal(err)
				}
			}
			for _, suffix := range suffixes {
				if err := os.Rename(path+suffix, filepath.Join(dir, "old.db"+suffix)); err != nil {
					t.Fatal(err)
				}
			}
			if suffixes == nil {
				raw(t, path, fmt.Sprintf(`ATTACH '%s' AS b; DELETE FROM tool_sessions; INSERT INTO tool_sessions SELECT * FROM b.tool_sessions;
					DELETE FROM tool_log; INSERT INTO tool_log SELECT * FROM b.tool_log;
					INSERT INTO tool_words (tool_words) VALUES ('delete-all'); UPDATE tool_state SET indexed = 0`, backup))
			} else if err := os.Rename(backup, path); err != nil {
				t.Fatal(err)
			}
			for i, e := range []*sequent.Engine{first, second, first, second} {
				s, err := e.Update(t.Context(), "a", adding("next"))
				if err != nil || s.Len() != 4+i {
					t.Fatalf("append %d: %d thoughts, %v; want %d", i, s.Len(), err, 4+i)
				}
			}
			for _, s := range []*Store{a, b} {
				finds(t, s, "lost", 0)
				finds(t, s, "next", 4)
				intact(t, s)
			}
			if suffixes == nil {
				return
			}
			old := openAt(t, filepath.Join(dir, "old.db"))
			defer old.Close()
			finds(t, old, "lost", 2)
			intact(t, old)
		})
	}
}

// A follower hears of another file, and a file that is no store is refused.
func TestFileReplacedByAnother(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not replace open files")
	}
	dir := t.TempDir()
	path, other := filepath.Join(dir, "sessions.db"), filepath.Join(dir, "other.db")
	s := openAt(t, path)
	defer s.Close()
	appendTo(t, s, 1)
	e := sequent.New(sequent.Config{Store: s})
	w, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Add(sequent.Key{ID: "a"})
	put := func(make func()) {
		t.Helper()
		make()
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
	}
	put(func() { filled(t, other, 2) })
	waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := w.Wait(waiting); err != nil {
		t.Errorf("Wait = %v", err)
	}
	if got, err := e.Session(t.Context(), "a"); err != nil || got.Len() != 2 {
		t.Errorf("Session = %v, %v, want the 2 thoughts of the new file", got, err)
	}
	for _, refused := range []struct {
		want  sequent.Code
		write func()
	}{
		{sequent.CodeOtherFormat, func() { filled(t, other, 1); raw(t, other, "PRAGMA user_version=11") }},
		{sequent.CodeUnavailable, func() { raw(t, other, "CREATE TABLE mine(x)") }},
		{sequent.CodeCorrupt, func() {
			write(t, other, []byte("no database, and long enough for the header of one: a hundred bytes have to be there at the least"))
		}},
	} {
		put(refused.write)
		_, writing := e.Update(t.Context(), "a", adding("x"))
		_, reading := e.Session(t.Context(), "a")
		for _, err := range []error{writing, reading, s.Check(t.Context())} {
			if sequent.CodeOf(err) != refused.want {
				t.Errorf("with another file: %v, want code %s", err, refused.want)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), "a", adding("x")); sequent.CodeOf(err) != sequent.CodeUnavailable {
		t.Errorf("without a file: %v, want code %s", err, sequent.CodeUnavailable)
	}
	put(func() { filled(t, other, 3) })
	if got, err := e.Update(t.Context(), "a", adding("x")); err != nil || got.Len() != 4 {
		t.Errorf("with a store again: %v, %v, want 4 thoughts", got, err)
	}
}

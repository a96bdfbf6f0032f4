package sqlite

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// TestDiagnose checks that exactly one check reports each problem.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		check  string // the one that must report the problem; empty if there is none
		status diagnosis.Status
		setup  func(t *testing.T, path string)
	}{
		{"an intact store", "", diagnosis.OK, func(t *testing.T, path string) { filled(t, path, 10) }},
		{"a store in use", "", diagnosis.OK, func(t *testing.T, path string) {
			s := openAt(t, path)
			t.Cleanup(func() { s.Close() })
			appendTo(t, s, 10)
		}},
		{"no store", "", diagnosis.OK, func(*testing.T, string) {}},
		{"an empty file", "", diagnosis.OK, func(t *testing.T, path string) { write(t, path, nil) }},
		{"a directory", "path", diagnosis.Fail, func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"text", "database", diagnosis.Fail, func(t *testing.T, path string) {
			write(t, path, bytes.Repeat([]byte("not a database\n"), 1000))
		}},
		{"another program's database", "database", diagnosis.Fail, func(t *testing.T, path string) {
			raw(t, path, "CREATE TABLE other(x)")
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"another format", "database", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 1)
			raw(t, path, "PRAGMA user_version=11")
		}},
		{"a damaged page", "database", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 500)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, path, info.Size()/2, bytes.Repeat([]byte{0xee}, int(info.Size()/2)))
		}},
		{"missing thoughts", "contents", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 10)
			raw(t, path, "DELETE FROM tool_log WHERE seq = 4")
		}},
		{"a file readable by all", "file", diagnosis.Warn, func(t *testing.T, path string) {
			filled(t, path, 1)
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"a lock that is held", "lock", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 1)
			c := start(t, "hold", childStore+"="+path)
			c.line(t)
			t.Cleanup(func() { _ = c.cmd.Wait() }) // t.Context kills it first
		}},
		{"thoughts that are not indexed yet", "", diagnosis.OK, func(t *testing.T, path string) { filled(t, path, 100) }},
		{"an altered thought", "history", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 30)
			raw(t, path, "UPDATE tool_log SET total = 99 WHERE id = 10")
		}},
		{"words that are not in the index", "search", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 30)
			raw(t, path, "UPDATE tool_state SET indexed = 30")
		}},
		{"deleted sessions", "deleted text", diagnosis.Warn, func(t *testing.T, path string) {
			s := openAt(t, path)
			defer s.Close()
			appendTo(t, s, 3)
			if err := s.Delete(t.Context(), sequent.Key{ID: "a"}, 0); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && test.check == "file" {
				t.Skip("Windows has no such file modes")
			}
			path := filepath.Join(t.TempDir(), "sessions.db")
			test.setup(t, path)
			findings, err := Diagnose(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range findings {
				if f.Check == "" || f.Detail == "" || f.Status != diagnosis.OK && f.Fix == "" {
					t.Errorf("incomplete finding: %+v", f)
				}
				if f.Check == test.check {
					found = f.Status == test.status
				} else if f.Status != diagnosis.OK && f.Check != "free space" && f.Check != "file system" {
					t.Errorf("unexpected finding: %+v", f)
				}
			}
			if test.check != "" && !found {
				t.Errorf("no finding %q with status %q: %+v", test.check, test.status, findings)
			}
		})
	}
}

// A store that cannot be created is reported, also to root, who may write everywhere.
func TestDiagnoseDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, nil)
	tests := map[string]diagnosis.Status{
		filepath.Join(dir, "a", "b", "s.db"):  diagnosis.OK,
		filepath.Join(file, "s.db"):           diagnosis.Fail,
		filepath.Join(file, "a", "b", "s.db"): diagnosis.Fail,
	}
	if runtime.GOOS == "linux" {
		tests["/proc/s.db"] = diagnosis.Fail
		tests["/proc/a/b/s.db"] = diagnosis.Fail
	}
	for path, want := range tests {
		findings, err := Diagnose(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(findings, func(f diagnosis.Finding) bool { return f.Check == "directory" })
		if at < 0 || findings[at].Status != want {
			t.Errorf("Diagnose(%s) = %+v, want the directory %s", path, findings, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 1 {
		t.Errorf("Diagnose left something behind: %v, %v", entries, err)
	}
	for path, want := range tests { // what it says is what happens
		s, err := Open(t.Context(), Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
		if (err == nil) != (want == diagnosis.OK) {
			t.Errorf("Open(%s): %v, but Diagnose reports %s", path, err, want)
		}
		if err == nil {
			s.Close()
		}
	}
}

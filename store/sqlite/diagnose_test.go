package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

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
		{"an empty file", "journal", diagnosis.Warn, func(t *testing.T, path string) { write(t, path, nil) }},
		{"a directory", "path", diagnosis.Fail, func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"text", "database", diagnosis.Fail, func(t *testing.T, path string) {
			write(t, path, bytes.Repeat([]byte("not a database\n"), 1000))
		}},
		{"another program's database", "format", diagnosis.Fail, func(t *testing.T, path string) {
			raw(t, path, "CREATE TABLE other(x)")
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"a newer format", "format", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 1)
			raw(t, path, fmt.Sprint("PRAGMA user_version=", latest+1))
		}},
		{"a damaged page", "integrity", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 500)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, path, info.Size()/2, bytes.Repeat([]byte{0xee}, int(info.Size()/2)))
		}},
		{"missing thoughts", "contents", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 10)
			raw(t, path, "DELETE FROM thoughts WHERE seq = 4")
		}},
		{"a changed journal mode", "journal", diagnosis.Warn, func(t *testing.T, path string) {
			filled(t, path, 1)
			raw(t, path, "PRAGMA journal_mode=DELETE")
		}},
		{"a file readable by all", "file", diagnosis.Warn, func(t *testing.T, path string) {
			filled(t, path, 1)
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"a directory writable by all", "directory", diagnosis.Warn, func(t *testing.T, path string) {
			filled(t, path, 1)
			if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
		}},
		{"a lock that is held", "lock", diagnosis.Fail, func(t *testing.T, path string) {
			filled(t, path, 1)
			c := start(t, "hold", childStore+"="+path)
			c.line(t)
			t.Cleanup(func() { _ = c.cmd.Wait() }) // t.Context kills it first
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && (test.check == "file" || test.check == "directory") {
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

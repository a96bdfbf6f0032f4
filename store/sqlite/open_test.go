package sqlite

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// refused opens a store and expects an error with a fix.
func refused(t *testing.T, cfg Config, want sequent.Code) {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err == nil {
		s.Close()
		t.Fatalf("Open(%q) succeeded, want code %s", cfg.Path, want)
	}
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok || e.Code != want || e.Msg == "" || e.Fix == "" {
		t.Errorf("Open(%q) = %v (code %s, fix %q), want code %s and a fix", cfg.Path, err, sequent.CodeOf(err), e.Fix, want)
	}
	if ok && (strings.Contains(e.Msg, cfg.Path) || strings.Contains(e.Fix, cfg.Path)) && cfg.Path != "" {
		t.Errorf("the error for %q shows the path to a client: %q, %q", cfg.Path, e.Msg, e.Fix)
	}
}

// contents returns a digest of every file with data in a directory.
func contents(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, entry := range all {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		// Readers create SQLite's -wal and -shm too, the -wal without content.
		if len(data) == 0 || strings.HasSuffix(entry.Name(), "-shm") {
			continue
		}
		fmt.Fprintf(&b, "%s %x\n", entry.Name(), sha256.Sum256(data))
	}
	return b.String()
}

// unclosed runs a statement on a database in WAL mode and leaves the files as a program does
// that is killed afterwards.
func unclosed(t *testing.T, path, statement string) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work.db")
	copyFile(t, path, work)
	db, err := sql.Open("sqlite", work)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		copyFile(t, work+suffix, path+suffix)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, data)
}

// What is not a store of this program is refused and not changed, by restore neither.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	backup := filepath.Join(t.TempDir(), "backup.db")
	filled(t, backup, 1)
	sql := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) { raw(t, path, text) }
	}
	store := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			filled(t, path, 10)
			raw(t, path, text)
		}
	}
	damaged := func(at int64, data []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			filled(t, path, 10)
			overwrite(t, path, at, data)
		}
	}
	text := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) { write(t, path, []byte(text)) }
	}
	for _, test := range []struct {
		name  string
		want  sequent.Code
		setup func(t *testing.T, path string)
		log   string // a statement that is only in the log of a program that was killed
	}{
		{"text", sequent.CodeCorrupt, text(strings.Repeat("this is not a database\n", 1000)), ""},
		{"a few bytes", sequent.CodeCorrupt, text("SQL"), ""},
		{"a truncated file", sequent.CodeCorrupt, func(t *testing.T, path string) {
			filled(t, path, 100)
			info, err := os.Stat(path)
			if err := errors.Join(err, os.Truncate(path, info.Size()/2)); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"a damaged header", sequent.CodeCorrupt, damaged(0, make([]byte, 200)), ""},
		{"a damaged schema", sequent.CodeCorrupt, damaged(100, bytes.Repeat([]byte{0xff}, 3000)), ""},
		{"another format", sequent.CodeOtherFormat, store("PRAGMA user_version=11"), ""},
		{"another format, in the log", sequent.CodeOtherFormat, store(""), "PRAGMA user_version=11"},
		{"another program's database", sequent.CodeUnavailable, sql("CREATE TABLE other(x)"), ""},
		{"another program's, in the log", sequent.CodeUnavailable, sql("PRAGMA journal_mode=wal; CREATE TABLE other(x)"), "INSERT INTO other VALUES (1)"},
		{"another program's application id", sequent.CodeUnavailable, sql("PRAGMA application_id=7; PRAGMA user_version=1"), ""},
		{"a renamed table", sequent.CodeCorrupt, store("ALTER TABLE tool_values RENAME TO mine"), ""},
		{"a missing table, in the log", sequent.CodeCorrupt, store(""), "DROP TABLE tool_log"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "sessions.db")
			test.setup(t, path)
			if test.log != "" {
				unclosed(t, path, test.log)
			}
			before := contents(t, dir)
			refused(t, Config{Path: path}, test.want)
			refused(t, Config{Path: path, ReadOnly: true}, test.want)
			if _, err := Restore(t.Context(), BackupConfig{From: backup, To: path}); sequent.CodeOf(err) != test.want {
				t.Errorf("Restore to the file: %v, want code %s", err, test.want)
			}
			if after := contents(t, dir); after != before {
				t.Errorf("the refused file was changed:\nbefore %s\nafter  %s", before, after)
			}
		})
	}
	t.Run("no path", func(t *testing.T) { refused(t, Config{}, sequent.CodeUnavailable) })
	t.Run("no file, read-only", func(t *testing.T) {
		dir := t.TempDir()
		refused(t, Config{Path: filepath.Join(dir, "none.db"), ReadOnly: true}, sequent.CodeUnavailable)
		if after := contents(t, dir); after != "" {
			t.Errorf("Open created files: %s", after)
		}
	})
	t.Run("a directory, and below a file", func(t *testing.T) {
		dir := t.TempDir()
		refused(t, Config{Path: dir}, sequent.CodeUnavailable)
		write(t, filepath.Join(dir, "file"), []byte("x"))
		refused(t, Config{Path: filepath.Join(dir, "file", "sessions.db")}, sequent.CodeUnavailable)
	})
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(data, at); err != nil {
		t.Fatal(err)
	}
}

func TestPathsAndModes(t *testing.T) {
	t.Parallel()
	name := "a b?c#d%41&é 日本.db"
	if runtime.GOOS == "windows" {
		name = "a b#d%41&é 日本.db"
	}
	path := filepath.Join(t.TempDir(), "new", "er", name)
	s := openAt(t, path)
	defer s.Close()
	appendTo(t, s, 3)
	var got []string
	all, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range all {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, entry.Name())
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %s, want 0600", entry.Name(), info.Mode())
		}
	}
	for _, want := range []string{name, name + "-wal", name + "-shm", name + ".lock"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing from %q", want, got)
		}
	}
	for _, dir := range []string{"new", filepath.Join("new", "er")} {
		info, err := os.Stat(filepath.Join(filepath.Dir(path), "..", "..", dir))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("directory %s has mode %v, error %v; want 0700", dir, info.Mode(), err)
		}
	}
}

// TestSymbolicLink opens one file through two paths. Both Stores must use the same
// lock file.
func TestSymbolicLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := openAt(t, filepath.Join(dir, "sessions.db"))
	defer a.Close()
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(a.path, link); err != nil {
		t.Skipf("creating a symbolic link failed: %v", err)
	}
	b := openAt(t, link)
	defer b.Close()
	if a.path != b.path {
		t.Errorf("the paths are %q and %q, want the same", a.path, b.path)
	}
}

// A transaction of a program that was killed where the file has no write-ahead log is rolled back.
func TestHotJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, killed := filepath.Join(dir, "sessions.db"), filepath.Join(dir, "killed.db")
	filled(t, path, 50)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA journal_mode=delete; PRAGMA cache_size=1; BEGIN; UPDATE tool_log SET text = 'half'"); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-journal"} {
		copyFile(t, path+suffix, killed+suffix)
	}
	s := openAt(t, killed)
	defer s.Close()
	h, log, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
	if v := sequent.Verify(h, log); err != nil || v.Fault != nil || len(log) != 50 {
		t.Errorf("Load = %d thoughts, %v, %v", len(log), v.Fault, err)
	}
}

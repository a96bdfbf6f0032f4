package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
)

// need skips a test for want of something, or fails it where nothing may be
// wanting.
func need(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("SEQUENT_REQUIRE") == "all" {
		t.Fatalf("required: "+format, args...)
	}
	t.Skipf(format, args...)
}

// filled makes a store with n thoughts in session "a" and closes it.
func filled(t *testing.T, path string, n int) {
	t.Helper()
	s := openAt(t, path)
	appendTo(t, s, n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, s *Store, n int) {
	t.Helper()
	e := sequent.New(sequent.Config{Store: s})
	for i := range n {
		if _, err := e.Ensure(t.Context(), "a", record(fmt.Sprintf("%d %s", i, benchText))); err != nil {
			t.Fatal(err)
		}
	}
}

// raw runs statements on a database past the store.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// refused opens a store and expects an error that tells what to do.
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

// contents returns a digest of every file in a directory that holds data.
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
		// Whoever only reads leaves SQLite's own files behind, with nothing in
		// them.
		if len(data) == 0 || strings.HasSuffix(entry.Name(), "-shm") {
			continue
		}
		fmt.Fprintf(&b, "%s %x\n", entry.Name(), sha256.Sum256(data))
	}
	return b.String()
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		want sequent.Code
		make func(t *testing.T, path string)
	}{
		{"a directory", sequent.CodeUnavailable, func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"text", sequent.CodeCorrupt, func(t *testing.T, path string) {
			write(t, path, bytes.Repeat([]byte("this is not a database\n"), 1000))
		}},
		{"a few bytes", sequent.CodeCorrupt, func(t *testing.T, path string) { write(t, path, []byte("SQL")) }},
		{"a truncated file", sequent.CodeCorrupt, func(t *testing.T, path string) {
			filled(t, path, 100)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, info.Size()/2); err != nil {
				t.Fatal(err)
			}
		}},
		{"a damaged header", sequent.CodeCorrupt, func(t *testing.T, path string) {
			filled(t, path, 10)
			overwrite(t, path, 0, make([]byte, 200))
		}},
		{"a damaged schema", sequent.CodeCorrupt, func(t *testing.T, path string) {
			filled(t, path, 10)
			overwrite(t, path, 100, bytes.Repeat([]byte{0xff}, 3000))
		}},
		{"a newer format", sequent.CodeNewerSchema, func(t *testing.T, path string) {
			filled(t, path, 10)
			raw(t, path, fmt.Sprint("PRAGMA user_version=", latest+1))
		}},
		{"another program's database", sequent.CodeUnavailable, func(t *testing.T, path string) {
			raw(t, path, "CREATE TABLE other(x)", "INSERT INTO other VALUES (1)")
		}},
		{"another program's database with its mark", sequent.CodeUnavailable, func(t *testing.T, path string) {
			raw(t, path, "PRAGMA application_id=7", "PRAGMA user_version=1")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "sessions.db")
			test.make(t, path)
			before := ""
			if test.name != "a directory" {
				before = contents(t, dir)
			}
			refused(t, Config{Path: path}, test.want)
			refused(t, Config{Path: path, ReadOnly: true}, test.want)
			if before != "" {
				if after := contents(t, dir); after != before {
					t.Errorf("the refused file was touched:\nbefore %s\nafter  %s", before, after)
				}
			}
		})
	}
	t.Run("no path", func(t *testing.T) { refused(t, Config{}, sequent.CodeUnavailable) })
	t.Run("nothing to read", func(t *testing.T) {
		dir := t.TempDir()
		refused(t, Config{Path: filepath.Join(dir, "none.db"), ReadOnly: true}, sequent.CodeUnavailable)
		if after := contents(t, dir); after != "" {
			t.Errorf("files were made: %s", after)
		}
	})
	t.Run("below a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		write(t, file, []byte("x"))
		refused(t, Config{Path: filepath.Join(file, "sessions.db")}, sequent.CodeUnavailable)
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

// TestDamageInUse damages pages that opening does not read.
func TestDamageInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	filled(t, path, 2000)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, path, info.Size()/2, bytes.Repeat([]byte{0xee}, int(info.Size()/2)))
	s := openAt(t, path)
	defer s.Close()
	if _, _, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{}); sequent.CodeOf(err) != sequent.CodeCorrupt {
		t.Errorf("Load of damaged pages: %v, want code %s", err, sequent.CodeCorrupt)
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
			t.Errorf("there is no %q among %q", want, got)
		}
	}
	for _, dir := range []string{"new", filepath.Join("new", "er")} {
		info, err := os.Stat(filepath.Join(filepath.Dir(path), "..", "..", dir))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("directory %s has mode %v, error %v; want 0700", dir, info.Mode(), err)
		}
	}
}

// TestSymbolicLink opens one file by two paths, which must share the lock.
func TestSymbolicLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := openAt(t, filepath.Join(dir, "sessions.db"))
	defer a.Close()
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(a.path, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	b := openAt(t, link)
	defer b.Close()
	if a.lock.path != b.lock.path {
		t.Errorf("the locks are %q and %q, want the same", a.lock.path, b.lock.path)
	}
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	script, err := migrations.ReadFile(scripts[0])
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, string(script), "PRAGMA user_version=1", fmt.Sprint("PRAGMA application_id=", applicationID))
	raw(t, path, `INSERT INTO tool_sessions (owner, id, epoch, version, len, state, title, scope, dialect, conclusion, labels, created, updated)
		VALUES ('', 'a', 1, 1, 1, 'active', '', '', '', '', '', 0, 0)`,
		`INSERT INTO thoughts (session, seq, number, total, text, note, branch, revision, more, extend, request_key, request_digest, labels, after, supersedes, at)
		VALUES (1, 1, 1, 1, 'old', '', '', 0, 1, 0, '', '', '', 0, 0, 0)`)
	refused(t, Config{Path: path, ReadOnly: true}, sequent.CodeReadOnly)
	s := openAt(t, path)
	defer s.Close()
	_, log, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
	if err != nil || len(log) != 1 || log[0].Text != "old" {
		t.Errorf("after the upgrade Load = %+v, error %v", log, err)
	}
	version, err := schemaVersion(t.Context(), s.readers)
	if err != nil || version != latest {
		t.Errorf("the version is %d, error %v; want %d", version, err, latest)
	}
	appendTo(t, s, 1)
}

// holdTask holds the file lock until its input ends.
func holdTask() error {
	f := flock.New(os.Getenv(childStore) + ".lock")
	if err := f.Lock(); err != nil {
		return err
	}
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, f.Unlock())
}

func TestBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	filled(t, path, 1)
	s, err := Open(t.Context(), Config{Path: path, Patience: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})

	c := start(t, "hold", childStore+"="+s.path)
	c.line(t)
	if _, err := e.Update(t.Context(), "a", record("x")); !errors.Is(err, sequent.ErrBusy) {
		t.Errorf("Update while another process holds the file lock: %v, want code %s", err, sequent.CodeBusy)
	}
	ctx, cancel := context.WithCancel(t.Context())
	patient := openAt(t, path) // a file that needs no work is opened without the lock
	defer patient.Close()
	cancelled := make(chan error)
	go func() { cancelled <- patient.Delete(ctx, sequent.Key{ID: "a"}, 0) }()
	cancel()
	if err := <-cancelled; sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("Delete given up while another process holds the file lock: %v, want code %s", err, sequent.CodeCanceled)
	}
	c.end(t)
	if _, err := e.Update(t.Context(), "a", record("y")); err != nil {
		t.Errorf("Update after the lock was released: %v", err)
	}

	// A program that knows nothing of the file lock.
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), "a", record("x")); !errors.Is(err, sequent.ErrBusy) {
		t.Errorf("Update while another program writes: %v, want code %s", err, sequent.CodeBusy)
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	got, err := e.Update(t.Context(), "a", record("z"))
	if err != nil || got.Len != 3 {
		t.Errorf("after the other program has gone: %v; want 3 thoughts", err)
	}
}

// TestFileRemoved keeps the promise of durability when somebody deletes the
// file of a running store.
func TestFileRemoved(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove open files")
	}
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := openAt(t, path)
	defer s.Close()
	appendTo(t, s, 1)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	w := &sequent.Write{Header: sequent.Header{Key: sequent.Key{ID: "b"}, Epoch: 1, Version: 1}}
	for range 2 {
		if err := s.Commit(t.Context(), []*sequent.Write{w}); sequent.CodeOf(err) != sequent.CodeUnavailable {
			t.Errorf("Commit to a removed file: %v, want code %s", err, sequent.CodeUnavailable)
		}
	}
	filled(t, path, 2) // by another process: a new file
	if err := s.Commit(t.Context(), []*sequent.Write{w}); sequent.CodeOf(err) != sequent.CodeUnavailable {
		t.Errorf("Commit to a replaced file: %v, want code %s", err, sequent.CodeUnavailable)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "sessions.db"))
	appendTo(t, s, 1)
	k := sequent.Key{ID: "a"}
	h, _, err := s.Load(t.Context(), k, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() { waiting <- s.Wait(t.Context(), k, h.Position()) }()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := <-waiting; sequent.CodeOf(err) != sequent.CodeUnavailable {
		t.Errorf("Wait ended with %v, want code %s", err, sequent.CodeUnavailable)
	}
	_, _, loading := s.Load(t.Context(), k, sequent.Position{})
	_, listing := s.List(t.Context(), sequent.Query{})
	_, sweeping := s.Sweep(t.Context(), time.Now(), 1)
	for call, err := range map[string]error{
		"Load": loading, "List": listing, "Sweep": sweeping,
		"Delete": s.Delete(t.Context(), k, 0),
		"Commit": s.Commit(t.Context(), []*sequent.Write{{Header: h}}),
		"Wait":   s.Wait(t.Context(), k, h.Position()),
	} {
		if sequent.CodeOf(err) != sequent.CodeUnavailable {
			t.Errorf("%s on a closed store: %v, want code %s", call, err, sequent.CodeUnavailable)
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	filled(t, path, 5)
	before := contents(t, filepath.Dir(path))
	s, err := Open(t.Context(), Config{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	reads(t, s, 5)
	w := openAt(t, path) // what others write is seen
	appendTo(t, w, 2)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	reads(t, s, 7)
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if before == contents(t, filepath.Dir(path)) {
		t.Error("the second store wrote nothing")
	}
}

// reads checks a store that can only be read and has n thoughts in "a".
func reads(t testing.TB, s *Store, n int) {
	t.Helper()
	h, log, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
	if err != nil || len(log) != n {
		t.Errorf("Load = %d thoughts, error %v; want %d", len(log), err, n)
	}
	if page, err := s.List(t.Context(), sequent.Query{}); err != nil || len(page.Headers) != 1 {
		t.Errorf("List = %d headers, error %v; want 1", len(page.Headers), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*glance)
	defer cancel()
	if err := s.Wait(ctx, h.Key, h.Position()); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("Wait: %v, want code %s", err, sequent.CodeCanceled)
	}
	_, sweeping := s.Sweep(t.Context(), time.Now(), 1)
	for call, err := range map[string]error{
		"Commit": s.Commit(t.Context(), []*sequent.Write{{Header: sequent.Header{Key: sequent.Key{ID: "b"}, Epoch: 1, Version: 1}}}),
		"Delete": s.Delete(t.Context(), h.Key, 0),
		"Sweep":  sweeping,
	} {
		if sequent.CodeOf(err) != sequent.CodeReadOnly {
			t.Errorf("%s: %v, want code %s", call, err, sequent.CodeReadOnly)
		}
	}
}

// TestErrors checks that whatever SQLite says has a code and a remedy.
func TestErrors(t *testing.T) {
	for code, want := range map[int]sequent.Code{
		sqlite3.SQLITE_FULL:              sequent.CodeFull,
		sqlite3.SQLITE_READONLY:          sequent.CodeReadOnly,
		sqlite3.SQLITE_READONLY_DBMOVED:  sequent.CodeReadOnly,
		sqlite3.SQLITE_PERM:              sequent.CodeReadOnly,
		sqlite3.SQLITE_CORRUPT:           sequent.CodeCorrupt,
		sqlite3.SQLITE_NOTADB:            sequent.CodeCorrupt,
		sqlite3.SQLITE_BUSY:              sequent.CodeBusy,
		sqlite3.SQLITE_BUSY_SNAPSHOT:     sequent.CodeBusy,
		sqlite3.SQLITE_LOCKED:            sequent.CodeBusy,
		sqlite3.SQLITE_PROTOCOL:          sequent.CodeBusy,
		sqlite3.SQLITE_CANTOPEN:          sequent.CodeUnavailable,
		sqlite3.SQLITE_CANTOPEN_ISDIR:    sequent.CodeUnavailable,
		sqlite3.SQLITE_IOERR:             sequent.CodeUnavailable,
		sqlite3.SQLITE_IOERR_WRITE:       sequent.CodeUnavailable,
		sqlite3.SQLITE_IOERR_FSYNC:       sequent.CodeUnavailable,
		sqlite3.SQLITE_NOMEM:             sequent.CodeUnavailable,
		sqlite3.SQLITE_TOOBIG:            sequent.CodeLimitExceeded,
		sqlite3.SQLITE_CONSTRAINT_UNIQUE: sequent.CodeInternal,
	} {
		e := &sequent.Error{Code: sequent.CodeInternal, Err: io.EOF}
		describe(e, code)
		if e.Code != want || want != sequent.CodeInternal && (e.Msg == "" || e.Fix == "") || e.Err == nil {
			t.Errorf("result code %d gives %+v, want code %s", code, e, want)
		}
	}
	if _, err := os.Open(filepath.Join(t.TempDir(), "none")); sequent.CodeOf(wrap(err)) != sequent.CodeUnavailable {
		t.Errorf("a missing file gives %v", wrap(err))
	}
}

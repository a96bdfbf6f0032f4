package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/sequent-dev/sequent"
)

// oldest is the first SQLite without the bug by which two connections that
// write and checkpoint at the same instant lose committed data.
const oldest = "3.51.3"

// checkVersion refuses a SQLite that would lose data.
func checkVersion() error {
	version, err := libraryVersion()
	if err != nil {
		return err
	}
	var have, want [3]int
	_, err1 := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2])
	_, err2 := fmt.Sscanf(oldest, "%d.%d.%d", &want[0], &want[1], &want[2])
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("SQLite calls its version %q: %w", version, err)
	}
	for i := range have {
		if have[i] > want[i] {
			return nil
		}
		if have[i] < want[i] {
			return &sequent.Error{
				Code: sequent.CodeUnavailable,
				Msg:  "this program was built with SQLite " + version + ", which can lose committed data",
				Fix:  "build it with SQLite " + oldest + " or newer",
			}
		}
	}
	return nil
}

func libraryVersion() (string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return "", err
	}
	defer db.Close()
	var version string
	return version, db.QueryRow("SELECT sqlite_version()").Scan(&version)
}

// locate returns the path under which the file is known to all processes:
// those that come by different symbolic links must share the lock beside it.
// It makes the directory.
func (s *Store) locate(path string) (string, error) {
	if path == "" {
		return "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store has no path",
			Fix: "name a file",
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store's path is a directory",
			Fix: "name a file, for example sessions.db in that directory",
			Err: errors.New(path),
		}
	case err == nil && !info.Mode().IsRegular():
		return "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store's path is not a regular file",
			Fix: "name another file",
			Err: fmt.Errorf("%s is %s", path, info.Mode()),
		}
	case err == nil:
		return filepath.EvalSymlinks(path)
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	case s.readOnly:
		return "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "there is no store to read",
			Fix: "check the path, or let the program make the store first", Err: err,
		}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// create makes the file if there is none, for nobody else to read; SQLite
// gives the files beside it the same mode.
//
// An existing file is not opened: closing any descriptor of a database file
// drops all locks that the process holds on it.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn returns the name of a connection to the database.
func (s *Store) dsn(pragmas ...string) string {
	q := make(url.Values)
	switch {
	case !s.readOnly:
		q.Set("mode", "rw") // never make it: create does
	case s.immutable:
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	default:
		q.Set("mode", "ro")
	}
	q["_pragma"] = append([]string{
		fmt.Sprintf("busy_timeout(%d)", s.patience.Milliseconds()),
		"trusted_schema(0)",
	}, pragmas...)
	path := filepath.ToSlash(s.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// connect opens a connection for looking at the file.
func (s *Store) connect(ctx context.Context) (*sql.DB, error) {
	s.immutable = s.readOnly && unchanging(s.path)
	db, err := sql.Open("sqlite", s.dsn())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// unchanging reports whether a file can be read only as one that nobody
// changes: SQLite reads a file in WAL mode with the files beside it, which it
// cannot make in a directory that cannot be written. If there are none, the
// file is all there is.
func unchanging(path string) bool {
	if writableDir(filepath.Dir(path)) {
		return false
	}
	info, err := os.Stat(path + "-wal")
	return err != nil || info.Size() == 0
}

func journalMode(ctx context.Context, db *sql.DB) (mode string, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	return mode, err
}

// wantJournal returns the journal that fits the place of the file. Processes
// that share a WAL must share memory, which a network file system does not.
func (s *Store) wantJournal() string {
	if s.journal == "" {
		s.journal = "wal"
		if name, remote := remoteFS(filepath.Dir(s.path)); remote {
			s.journal = "delete"
			s.log.Warn("the store is on a network file system and will be slow; a local disk is better",
				"store", s.path, "file system", name)
		}
	}
	return s.journal
}

// openReaders opens the connections for everything but writing.
func (s *Store) openReaders(ctx context.Context) (err error) {
	s.readers, err = sql.Open("sqlite", s.dsn("query_only(1)"))
	if err != nil {
		return err
	}
	s.readers.SetMaxOpenConns(5) // one is for whoever waits
	s.readers.SetMaxIdleConns(5)
	s.readers.SetConnMaxIdleTime(5 * time.Minute)
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.loading.header, selectHeader},
		{&s.loading.thoughts, selectThoughts},
		{&s.loading.position, selectPosition},
	} {
		if *p.stmt, err = s.readers.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

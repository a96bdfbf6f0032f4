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

// minVersion is the first SQLite without the bug that loses committed data when
// two connections write and checkpoint at the same time.
const minVersion = "3.51.3"

// checkVersion returns an error if the linked SQLite is older than minVersion.
func checkVersion() error {
	version, err := libraryVersion()
	if err != nil {
		return err
	}
	var have, want [3]int
	_, err1 := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2])
	_, err2 := fmt.Sscanf(minVersion, "%d.%d.%d", &want[0], &want[1], &want[2])
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("version %q of SQLite: %w", version, err)
	}
	for i := range have {
		if have[i] > want[i] {
			return nil
		}
		if have[i] < want[i] {
			return &sequent.Error{
				Code: sequent.CodeUnavailable,
				Msg:  "this program was built with SQLite " + version + ", which can lose committed data",
				Fix:  "build it with SQLite " + minVersion + " or newer",
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

// locate returns the absolute path of the file without symbolic links, so that
// processes that use different links share one lock file. It creates the
// directory if necessary.
func (s *Store) locate(path string) (string, error) {
	if path == "" {
		return "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store's path is empty",
			Fix: "use the path of a file",
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
			Fix: "use a file, for example sessions.db in that directory",
			Err: errors.New(path),
		}
	case err == nil && !info.Mode().IsRegular():
		return "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store's path is not a regular file",
			Fix: "use another file",
			Err: fmt.Errorf("%s is %s", path, info.Mode()),
		}
	case err == nil:
		return filepath.EvalSymlinks(path)
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	case s.readOnly:
		return "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store does not exist",
			Fix: "check the path, or create the store by opening it for writing", Err: err,
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

// create creates the file with mode 0600, which SQLite copies to its -wal and
// -shm, unless it exists.
//
// It must not open an existing file: closing any descriptor of a database file
// releases all locks that the process holds on it.
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

// dsn returns the data source name of the database.
func (s *Store) dsn(pragmas ...string) string {
	q := make(url.Values)
	switch {
	case !s.readOnly:
		q.Set("mode", "rw") // not rwc: create creates the file
	case s.immutable:
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	default:
		q.Set("mode", "ro")
	}
	q["_pragma"] = append([]string{
		fmt.Sprintf("busy_timeout(%d)", s.busyTimeout.Milliseconds()),
		"trusted_schema(0)",
	}, pragmas...)
	path := filepath.ToSlash(s.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // before a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// connect opens a connection for preparing or diagnosing the file. It sets
// s.immutable.
func (s *Store) connect(ctx context.Context) (*sql.DB, error) {
	s.immutable = s.readOnly && needsImmutable(s.path)
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

// needsImmutable reports whether SQLite can read the file only with the parameter
// immutable: in WAL mode SQLite needs a -wal and a -shm file, and it cannot create
// them in a read-only directory. Without a -wal the file is complete.
func needsImmutable(path string) bool {
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

// wantJournal returns the journal mode for the file: wal, but delete on a network
// file system, because processes that share a WAL must share memory.
func (s *Store) wantJournal() string {
	if s.journal == "" {
		s.journal = "wal"
		if name, remote := remoteFS(filepath.Dir(s.path)); remote {
			s.journal = "delete"
			s.log.Warn("the store is on a network file system, which is slow; prefer a local disk",
				"store", s.path, "file system", name)
		}
	}
	return s.journal
}

// openReaders opens the connections for reading.
func (s *Store) openReaders(ctx context.Context) (err error) {
	s.readers, err = sql.Open("sqlite", s.dsn("query_only(1)"))
	if err != nil {
		return err
	}
	s.readers.SetMaxOpenConns(5) // the poller uses one
	s.readers.SetMaxIdleConns(5)
	s.readers.SetConnMaxIdleTime(5 * time.Minute)
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.loading.header, selectHeader},
		{&s.loading.thoughts.plain, selectThoughts},
		{&s.loading.thoughts.optional, selectOptional},
		{&s.loading.entries, selectEntries},
	} {
		if *p.stmt, err = s.readers.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

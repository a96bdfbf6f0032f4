package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

//go:embed schema.sql
var schema string

// Marks in the header of our files. In ASCII the application is "sqnt".
const (
	applicationID = 0x73716e74
	latest        = 100 // the format that this program reads and writes, the user_version
)

// locate sets the absolute path of the file without symbolic links, so that processes that
// use different links share one lock file. It creates the directory if necessary.
func (s *Store) locate(path string) error {
	if path == "" {
		return sequent.Errorf(sequent.CodeUnavailable, "", "use the path of a file", "the store's path is empty")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s.path = path
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store's path is not a regular file",
			Fix: "use a file, for example sessions.db in a directory",
			Err: fmt.Errorf("%s is %s", path, info.Mode()),
		}
	case err == nil:
		s.path, err = filepath.EvalSymlinks(path)
		return err
	case !errors.Is(err, os.ErrNotExist):
		return err
	case s.readOnly:
		return &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store does not exist",
			Fix: "check the path, or create the store by opening it for writing", Err: err,
		}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err == nil {
		s.path = filepath.Join(dir, filepath.Base(path))
	}
	return err
}

// createFile creates the file with mode 0600, which SQLite copies to its -wal and -shm, unless it
// exists.
//
// It must not open an existing file: closing any descriptor of a database file
// releases all locks that the process holds on it.
func (s *Store) createFile() error {
	if _, err := os.Stat(s.path); err == nil || s.readOnly {
		return nil
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn returns the data source name of the database, for reading only or also for writing.
func (s *Store) dsn(write bool, pragmas ...string) string {
	q := make(url.Values)
	switch {
	case write:
		q.Set("mode", "rw") // not rwc: createFile creates the file
	case s.immutable:
		q.Set("immutable", "1")
		fallthrough
	default:
		q.Set("mode", "ro")
	}
	q["_pragma"] = append([]string{fmt.Sprintf("busy_timeout(%d)", s.busyTimeout.Milliseconds()), "trusted_schema(0)"}, pragmas...)
	path := filepath.ToSlash(s.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // before a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// inspect returns a database on one connection that cannot write, and the format of the file.
// When another connection is closed, SQLite moves the write-ahead log that a killed program left
// into the file, which may not be ours.
func (s *Store) inspect(ctx context.Context) (*sql.DB, int, error) {
	db, have, err := s.connect(ctx, false)
	code := codeOf(err)
	if code != sqlite3.SQLITE_CANTOPEN && code != sqlite3.SQLITE_READONLY || s.immutable {
		return db, have, err
	}
	if !isReadOnly(probe(filepath.Dir(s.path))) {
		if code == sqlite3.SQLITE_READONLY && !s.readOnly { // a journal that a killed program left has to be rolled back
			return s.connect(ctx, true)
		}
		return db, have, err
	}
	// SQLite reads a file in WAL mode beside a -shm file, which it cannot create here.
	if info, missing := os.Stat(s.path + "-wal"); missing == nil && info.Size() > 0 {
		return nil, 0, &sequent.Error{
			Code: sequent.CodeReadOnly,
			Msg:  "the store cannot be read, or was not closed properly and cannot be recovered in a read-only directory",
			Fix:  "make the file readable, or copy it and its -wal to a writable directory and open it there",
			Err:  err,
		}
	}
	s.immutable = true
	return s.connect(ctx, false)
}

// connect opens a database on one connection, and returns its format.
func (s *Store) connect(ctx context.Context, write bool) (*sql.DB, int, error) {
	db, err := sql.Open("sqlite", s.dsn(write))
	if err != nil {
		return nil, 0, err
	}
	db.SetMaxOpenConns(1)
	have, err := format(ctx, db)
	if err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	return db, have, nil
}

// format returns the format of a file, 0 for an empty file. It returns an error if the file
// has another format than latest or is another program's.
func format(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (int, error) {
	var version, application, objects int
	var missing string
	err := db.QueryRowContext(ctx, `
		SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema),
			(SELECT coalesce(group_concat(column1, ', '), '')
				FROM (VALUES ('tool_sessions'), ('tool_log'), ('tool_values'), ('tool_words'), ('tool_state'))
				WHERE column1 NOT IN (SELECT name FROM sqlite_schema))
		FROM pragma_user_version, pragma_application_id`,
	).Scan(&version, &application, &objects, &missing)
	switch {
	case err != nil || application == 0 && version == 0 && objects == 0:
		return 0, err
	case application != applicationID:
		return 0, &sequent.Error{
			Code: sequent.CodeUnavailable,
			Msg:  "the store's file is a SQLite database of another program",
			Fix:  "use another file",
			Err:  fmt.Errorf("application_id %#x, user_version %d, %d tables and indexes", application, version, objects),
		}
	case version != latest:
		return 0, sqlstore.OtherFormat(version, latest)
	case missing != "":
		return 0, sqlstore.Incomplete(errors.New("missing: " + missing))
	}
	return version, nil
}

// A file is the store's file while it is open for reading.
type file struct {
	readers   *sql.DB
	first     *sql.Conn   // one of them, which keeps the log open
	info, log os.FileInfo // the file and its write-ahead log, which is nil without one
}

// openFile opens the file for reading, and returns its format.
func (s *Store) openFile(ctx context.Context) (*file, int, error) {
	f := new(file)
	var err error
	if f.info, err = os.Stat(s.path); err != nil {
		return nil, 0, err
	}
	db, have, err := s.inspect(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	if f.readers, err = sql.Open("sqlite", s.dsn(!s.readOnly && !s.immutable, "query_only(1)")); err != nil {
		return nil, 0, err
	}
	f.readers.SetMaxOpenConns(5)
	f.readers.SetMaxIdleConns(4)
	f.readers.SetConnMaxIdleTime(5 * time.Minute)
	if f.first, err = f.readers.Conn(ctx); err == nil {
		_, err = dataVersion(ctx, f.first) // it opens the log
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.readers.Close())
	}
	f.log, _ = os.Stat(s.path + "-wal")
	return f, have, nil
}

func (f *file) close() error { return errors.Join(f.first.Close(), f.readers.Close()) }

// isReplaced reports whether there is another file at s.path than the open one, whose commits
// other processes would not see. The error says that no file is at s.path: what is committed would be
// lost when the process exits.
func (s *Store) isReplaced() (bool, error) {
	s.opened.RLock()
	defer s.opened.RUnlock()
	if s.readOnly {
		return false, nil
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return false, &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store's file was removed while it was in use; nothing was stored",
			Fix: "put the file back, or restart the program to begin with an empty store", Err: err,
		}
	}
	return !os.SameFile(info, s.file.info), nil
}

// follow opens the file that has replaced the open one, such as a backup. The caller holds
// s.writing and the file lock.
func (s *Store) follow(ctx context.Context) error {
	if s.writer != nil {
		_, err := s.writer.conn.ExecContext(ctx, "PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE)") // the old file may be kept
		if err := errors.Join(err, s.dropWriter()); err != nil {
			s.log.WarnContext(ctx, "closing the file that was replaced", "store", s.path, "error", err)
		}
	}
	// If only the file was replaced, the log beside it is that of the old one.
	if log, err := os.Stat(s.path + "-wal"); err == nil && s.file.log != nil && os.SameFile(log, s.file.log) {
		if err := errors.Join(os.Remove(s.path+"-wal"), os.Remove(s.path+"-shm")); err != nil {
			return err
		}
	}
	f, _, err := s.openFile(ctx)
	if err != nil {
		return err
	}
	s.opened.Lock()
	defer s.opened.Unlock()
	was := s.file
	s.file = f
	s.log.WarnContext(ctx, "the store's file was replaced and is opened again; what it lacks is gone", "store", s.path)
	s.feed.Lost()
	return was.close()
}

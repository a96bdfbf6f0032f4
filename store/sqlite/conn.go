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

	_ "modernc.org/sqlite" // the driver

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

// locate returns the absolute path of the file without symbolic links, so that
// processes that use different links share one lock file. It creates the
// directory if necessary.
func (s *Store) locate(path string) (string, error) {
	if path == "" {
		return "", sequent.Errorf(sequent.CodeUnavailable, "", "use the path of a file", "the store's path is empty")
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

// connect opens a connection for examining the file. The store is not open.
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

// refuse returns an error if the file is a database and not a store of this program. It only
// reads: when a connection that may write is closed, SQLite moves the write-ahead log that a
// killed program left into the file.
func (s *Store) refuse(ctx context.Context) error {
	reader := newStore(Config{ReadOnly: true, BusyTimeout: s.busyTimeout})
	reader.path = s.path
	db, err := reader.connect(ctx)
	if err != nil {
		return nil // opening it says why
	}
	_, err = format(ctx, db)
	refused, _ := errors.AsType[*sequent.Error](errors.Join(err, db.Close()))
	if refused == nil {
		return nil
	}
	return refused
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

// A querier is a database, connection or transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// format returns the format of a file, 0 for an empty file. It returns an error if the file
// has another format than latest or is another program's.
func format(ctx context.Context, db querier) (int, error) {
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
	case err != nil:
		return 0, err
	case application == 0 && version == 0 && objects == 0:
		return 0, nil
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

func journalMode(ctx context.Context, db querier) (mode string, err error) {
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

// prepare creates the tables in an empty file, and sets the journal mode. The caller holds
// the file lock.
func (s *Store) prepare(ctx context.Context, conn *sql.Conn) error {
	if _, err := format(ctx, conn); err != nil {
		return err // before the journal mode of a file that is refused is changed
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode="+s.wantJournal()).Scan(&mode); err != nil {
		return err
	}
	if mode != s.wantJournal() {
		return fmt.Errorf("changing the journal mode to %q failed, it is %q", s.wantJournal(), mode)
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	have, err := format(ctx, conn)
	if err == nil && have == 0 {
		_, err = conn.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", latest, applicationID))
	}
	if err != nil {
		return err // closing the connection rolls back
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

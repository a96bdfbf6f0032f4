// Package indexfile opens SQLite files whose content can be rebuilt from other
// data, so that a damaged file is simply removed. Several processes may have such
// a file open. Only the process that holds the caller's lock writes to it.
package indexfile

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrForeign means that another program made the file at the index's path. Such a
// file must not be changed or removed.
var ErrForeign = errors.New("the file at the path of the index belongs to another program")

// A File is an open index.
type File struct {
	Readers *sql.DB
	Writer  *sql.DB // one connection, for the holder of the lock only

	path  string
	info  os.FileInfo // to recognise a later file at the same path
	users sync.WaitGroup
}

// A Connect opens a connection pool to a file. The connections are read-only if
// writes is false.
type Connect func(writes bool) (*sql.DB, error)

// Open opens the file at path, which info describes. It does not read the file.
func Open(path string, info os.FileInfo, connect Connect) (*File, error) {
	f := &File{path: path, info: info}
	var err error
	if f.Writer, err = connect(true); err != nil {
		return nil, err
	}
	f.Writer.SetMaxOpenConns(1)
	if f.Readers, err = connect(false); err != nil {
		return nil, errors.Join(err, f.Writer.Close())
	}
	f.Readers.SetMaxOpenConns(4)
	f.Readers.SetMaxIdleConns(4)
	f.Readers.SetConnMaxIdleTime(5 * time.Minute)
	return f, nil
}

// Use keeps f open until the caller calls Release. It must not be called after
// Close.
func (f *File) Use() { f.users.Add(1) }

// Release ends one Use.
func (f *File) Release() { f.users.Done() }

// InPlace reports whether f is still the file at its path: another process may
// have removed or replaced it.
func (f *File) InPlace() bool {
	info, err := os.Stat(f.path)
	return err == nil && os.SameFile(info, f.info)
}

// Close waits until every Use has been released, then closes f.
func (f *File) Close() error {
	f.users.Wait()
	return errors.Join(f.Readers.Close(), f.Writer.Close())
}

// Remove removes the file at path, if any, with its -wal and -shm files, which
// SQLite would otherwise apply to the next file at path. The caller holds the
// lock.
func Remove(path string) error {
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// A Queryer is a database, a connection or a transaction.
type Queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Version returns the user_version of an index and whether the file is still
// empty. It returns [ErrForeign] for a file that is not empty and has another
// application id.
func Version(ctx context.Context, db Queryer, application int) (version int, empty bool, err error) {
	var found, objects int
	err = db.QueryRowContext(ctx, `
		SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`,
	).Scan(&version, &found, &objects)
	empty = err == nil && found == 0 && version == 0 && objects == 0
	if err == nil && found != application && !empty {
		err = ErrForeign
	}
	return version, empty, err
}

// IsDamage reports whether err, from reading or writing an index, means that the
// index must be rebuilt.
func IsDamage(err error) bool {
	if errors.Is(err, sql.ErrNoRows) { // single rows are only read where an intact index has one
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT,
		sqlite3.SQLITE_ERROR: // our statements are valid, so a table or column is missing
		return true
	}
	return e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ
}

// InTx calls f in a transaction. It commits if f returns nil and rolls back
// otherwise.
func InTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after a commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

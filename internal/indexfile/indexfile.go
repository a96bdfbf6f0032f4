// Package indexfile opens SQLite files that hold nothing that could not be made
// anew: whoever finds one damaged throws it away. Several processes use such a file
// at once, and one of them, the holder of a lock that is the caller's, writes it.
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

// ErrForeign says that the file was not made by us, and is to be left alone.
var ErrForeign = errors.New("the file at the place of the index belongs to another program")

// A File is an index that is open.
type File struct {
	Readers *sql.DB
	Writer  *sql.DB // one connection, for the holder of the lock only

	path  string
	info  os.FileInfo // tells it from a later file of the same name
	users sync.WaitGroup
}

// A Connect returns connections to a file, which only read if writes is false.
type Connect func(writes bool) (*sql.DB, error)

// Open opens the file at path, which info describes. What is in it is not looked
// at.
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

// Use keeps f open until a call of Release. It must not be called after Close.
func (f *File) Use() { f.users.Add(1) }

// Release ends a use.
func (f *File) Release() { f.users.Done() }

// InPlace reports whether f is still the file of its name: another process may
// have thrown it away, and perhaps made it anew.
func (f *File) InPlace() bool {
	info, err := os.Stat(f.path)
	return err == nil && os.SameFile(info, f.info)
}

// Close waits for the uses of f to end, and closes it.
func (f *File) Close() error {
	f.users.Wait()
	return errors.Join(f.Readers.Close(), f.Writer.Close())
}

// Remove removes the file at path, if there is one, and what SQLite keeps beside
// it, which it would take for a part of the next file. The caller holds the lock.
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

// Version returns the version of an index with our application id, and whether
// the file is still empty. The error is [ErrForeign] if it is neither ours nor
// empty.
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

// IsDamage reports whether err, of reading or writing an index, means that it must
// be made anew.
func IsDamage(err error) bool {
	if errors.Is(err, sql.ErrNoRows) { // where there is always one
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT,
		sqlite3.SQLITE_ERROR: // the statements are ours: what they name is missing
		return true
	}
	return e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ
}

// InTx calls f in a transaction, which is committed if f returns nil.
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

package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// format is the version of the schema and of what is put into it. An index of
// another version is made anew.
const format = 1

// applicationID is in the header of an index; it reads "sqnv".
const applicationID = 0x73716e76

// Lists are texts with one element a line. A note's id is never used again;
// rev counts the changes of the whole index, so that a process learns what the
// others have changed.
const schema = `
CREATE TABLE state(
	one INTEGER PRIMARY KEY CHECK (one = 1),
	rev INTEGER NOT NULL,     -- of the last change
	floor INTEGER NOT NULL,   -- removals up to this rev are no longer on record
	synced INTEGER NOT NULL   -- all notes have been read at least once
);
INSERT INTO state VALUES (1, 0, 0, 0);
CREATE TABLE notes(
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	path TEXT NOT NULL UNIQUE,
	rev INTEGER NOT NULL,
	size INTEGER NOT NULL,
	modified INTEGER NOT NULL,-- nanoseconds since 1970
	settled INTEGER NOT NULL, -- size and time are enough to see a change
	hash BLOB NOT NULL,       -- SHA-256 of the file
	title TEXT NOT NULL,
	tags TEXT NOT NULL,
	concepts TEXT NOT NULL,   -- what its links name
	about TEXT NOT NULL,      -- concepts that are its own names
	length INTEGER NOT NULL,  -- words in the body
	head TEXT NOT NULL,
	more TEXT NOT NULL,
	body TEXT NOT NULL,
	embedded TEXT NOT NULL DEFAULT '' -- the model of which it has all vectors
);
CREATE INDEX notes_rev ON notes(rev);
CREATE TABLE removed(id INTEGER PRIMARY KEY, rev INTEGER NOT NULL);
CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
CREATE TABLE postings(key INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE vectors(
	id INTEGER PRIMARY KEY,
	model TEXT NOT NULL, hash BLOB NOT NULL, -- SHA-256 of the text
	vector BLOB NOT NULL,     -- 32-bit floats, little end first, of length 1
	UNIQUE (model, hash)
);
CREATE TABLE passages(note INTEGER NOT NULL, seq INTEGER NOT NULL, vector INTEGER NOT NULL, PRIMARY KEY (note, seq)) WITHOUT ROWID;
CREATE INDEX passages_vector ON passages(vector);
`

// A file is an index that is open.
type file struct {
	path    string
	info    os.FileInfo // tells it from a later file of the same name
	readers *sql.DB
	writer  *sql.DB // used by the holder of the lock only
	users   sync.WaitGroup

	mu   sync.Mutex
	snap *snapshot

	vectors vectorCache
}

var (
	errClosed  = errors.New("the index is closed")
	errMissing = errors.New("there is no index")
	errDamaged = errors.New("the index is not one of this version")
	errForeign = errors.New("the file at the place of the index belongs to another program")
)

// A purpose says what the file is opened for.
type purpose int

const (
	forReading purpose = iota // it must be there
	forWriting                // it is made if it is missing; the caller holds the lock
)

// acquire returns the open file, which the caller releases.
func (x *Index) acquire(ctx context.Context, why purpose) (*file, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, errClosed
	}
	if x.file != nil && !x.file.inPlace() { // another process has thrown it away
		x.dropLocked()
	}
	if x.file == nil {
		f, err := openFile(ctx, x.path, why)
		if err != nil {
			return nil, err
		}
		x.file = f
	}
	x.file.users.Add(1)
	return x.file, nil
}

func (f *file) release() { f.users.Done() }

// dropLocked gives the open file up; it is closed when nobody uses it any more.
func (x *Index) dropLocked() {
	old := x.file
	x.file = nil
	if old != nil {
		x.ended.Go(func() { _ = old.close() }) // nothing of it is needed
	}
}

// inPlace reports whether f is still the file of its name.
func (f *file) inPlace() bool {
	info, err := os.Stat(f.path)
	return err == nil && os.SameFile(info, f.info)
}

func (f *file) close() error {
	f.users.Wait()
	return errors.Join(f.readers.Close(), f.writer.Close())
}

func openFile(ctx context.Context, path string, why purpose) (_ *file, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		if why == forReading {
			return nil, errMissing
		}
		if err := removeFiles(path); err != nil { // the log of an earlier file would be taken for its own
			return nil, err
		}
		info, err = createFile(path)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errForeign
	}
	f := &file{path: path, info: info}
	if f.writer, err = connect(path, url.Values{"_txlock": {"immediate"}}); err != nil {
		return nil, err
	}
	f.writer.SetMaxOpenConns(1)
	if f.readers, err = connect(path, url.Values{"_pragma": {"query_only(1)"}}); err != nil {
		return nil, errors.Join(err, f.writer.Close())
	}
	f.readers.SetMaxOpenConns(4)
	f.readers.SetMaxIdleConns(4)
	f.readers.SetConnMaxIdleTime(5 * time.Minute)
	if err = f.check(ctx, f.readers); errors.Is(err, errMissing) && why == forWriting {
		err = f.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// createFile makes an empty file for nobody else to read; SQLite gives the
// files beside it the same mode.
func createFile(path string) (os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

func removeFiles(path string) error {
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func connect(path string, q url.Values) (*sql.DB, error) {
	q.Set("mode", "rw")
	q["_pragma"] = append([]string{
		"busy_timeout(10000)", "trusted_schema(0)", "synchronous(normal)", "journal_size_limit(67108864)",
	}, q["_pragma"]...)
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
}

// prepare makes the schema in an empty file.
func (f *file) prepare(ctx context.Context) error {
	var mode string
	if err := f.writer.QueryRowContext(ctx, "PRAGMA journal_mode=wal").Scan(&mode); err != nil {
		return err
	}
	return inTx(ctx, f.writer, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", format, applicationID))
		return err
	})
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// check refuses a file that is not an index of this version. An empty one is
// none yet.
func (f *file) check(ctx context.Context, db queryer) error {
	var version, application, objects int
	err := db.QueryRowContext(ctx, `
		SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`,
	).Scan(&version, &application, &objects)
	switch {
	case err != nil:
		return err
	case application == 0 && version == 0 && objects == 0:
		return errMissing
	case application != applicationID:
		return errForeign
	case version != format:
		return errDamaged
	}
	return nil
}

// isDamage reports whether err means that the index must be made anew.
func isDamage(err error) bool {
	if errors.Is(err, errDamaged) || errors.Is(err, errPostings) || errors.Is(err, sql.ErrNoRows) {
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

func inTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
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

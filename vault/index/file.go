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

	"github.com/sequent-dev/sequent/internal/indexfile"
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
	*indexfile.File

	mu   sync.Mutex
	snap *snapshot

	vectors vectorCache
}

var (
	errClosed  = errors.New("the index is closed")
	errMissing = errors.New("there is no index")
	errDamaged = errors.New("the index is not one of this version")
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
	if x.file != nil && !x.file.InPlace() { // another process has thrown it away
		x.dropLocked()
	}
	if x.file == nil {
		f, err := openFile(ctx, x.path, why)
		if err != nil {
			return nil, err
		}
		x.file = f
	}
	x.file.Use()
	return x.file, nil
}

// dropLocked gives the open file up; it is closed when nobody uses it any more.
func (x *Index) dropLocked() {
	old := x.file
	x.file = nil
	if old != nil {
		x.ended.Go(func() { _ = old.Close() }) // nothing of it is needed
	}
}

func openFile(ctx context.Context, path string, why purpose) (_ *file, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		if why == forReading {
			return nil, errMissing
		}
		if err := indexfile.Remove(path); err != nil { // the log of an earlier file would be taken for its own
			return nil, err
		}
		info, err = createFile(path)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, indexfile.ErrForeign
	}
	open, err := indexfile.Open(path, info, func(writes bool) (*sql.DB, error) {
		if writes {
			return connect(path, url.Values{"_txlock": {"immediate"}})
		}
		return connect(path, url.Values{"_pragma": {"query_only(1)"}})
	})
	if err != nil {
		return nil, err
	}
	f := &file{File: open}
	if err = f.check(ctx); errors.Is(err, errMissing) && why == forWriting {
		err = f.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
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
	if err := f.Writer.QueryRowContext(ctx, "PRAGMA journal_mode=wal").Scan(&mode); err != nil {
		return err
	}
	return indexfile.InTx(ctx, f.Writer, func(tx *sql.Tx) error {
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
func (f *file) check(ctx context.Context) error {
	version, empty, err := indexfile.Version(ctx, f.Readers, applicationID)
	switch {
	case err != nil:
		return err
	case empty:
		return errMissing
	case version != format:
		return errDamaged
	}
	return nil
}

// isDamage reports whether err means that the index must be made anew.
func isDamage(err error) bool {
	return indexfile.IsDamage(err) || errors.Is(err, errDamaged) || errors.Is(err, errPostings)
}

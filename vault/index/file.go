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

// format is the version of the schema and of what is stored in it, which
// includes how package words cuts texts and how stem shortens words. An index of
// another version is replaced.
const format = 3

// applicationID is in the header of an index; it reads "sqnv".
const applicationID = 0x73716e76

// Lists are stored as text, one element a line. The id of a deleted note is not
// used again. rev counts the changes of the index: a process reads from it what
// the others have changed.
//
// The table words holds tokens that package words has cut, because FTS5's own
// tokenizers take a Chinese sentence for one word. The ascii tokenizer splits
// them at the spaces. The stems columns hold the stems of English words. The
// table keeps no copy of its content: to delete a row, the writer passes what it
// inserted.
const schema = `
CREATE TABLE state(
	one INTEGER PRIMARY KEY CHECK (one = 1),
	rev INTEGER NOT NULL,     -- of the last change
	floor INTEGER NOT NULL,   -- the table removed lacks removals up to this rev
	synced INTEGER NOT NULL   -- a Sync has completed
);
INSERT INTO state VALUES (1, 0, 0, 0);
CREATE TABLE notes(
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	path TEXT NOT NULL UNIQUE,
	rev INTEGER NOT NULL,
	size INTEGER NOT NULL,
	modified INTEGER NOT NULL,-- nanoseconds since 1970
	settled INTEGER NOT NULL, -- size and time suffice to see a change
	hash BLOB NOT NULL,       -- SHA-256 of the file
	title TEXT NOT NULL,
	tags TEXT NOT NULL,
	concepts TEXT NOT NULL,   -- targets of its links
	about TEXT NOT NULL,      -- concepts that its title, file name or aliases name
	head TEXT NOT NULL,
	more TEXT NOT NULL,
	body TEXT NOT NULL,
	embedded TEXT NOT NULL DEFAULT '' -- the model, once all passages have vectors
);
CREATE INDEX notes_rev ON notes(rev);
CREATE TABLE removed(id INTEGER PRIMARY KEY, rev INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(head, body, head_stems, body_stems, content='', tokenize='ascii');
INSERT INTO words(words, rank) VALUES ('secure-delete', 1);
CREATE TABLE vectors(
	id INTEGER PRIMARY KEY,
	model TEXT NOT NULL, hash BLOB NOT NULL, -- SHA-256 of the text
	vector BLOB NOT NULL,     -- 32-bit floats, little-endian, of length 1
	UNIQUE (model, hash)
);
CREATE TABLE passages(note INTEGER NOT NULL, seq INTEGER NOT NULL, vector INTEGER NOT NULL, PRIMARY KEY (note, seq)) WITHOUT ROWID;
CREATE INDEX passages_vector ON passages(vector);
`

// A file is an open index.
type file struct {
	*indexfile.File

	mu   sync.Mutex
	snap *snapshot

	vectors vectorCache
}

var (
	errClosed  = errors.New("the index is closed")
	errMissing = errors.New("there is no index")
	errDamaged = errors.New("the index is damaged, or of another version")
)

// A purpose is what the caller needs the file for.
type purpose int

const (
	forReading purpose = iota // the file must exist
	forWriting                // a missing file is created; the caller holds the lock
)

// acquire returns the open file. The caller releases it.
func (x *Index) acquire(ctx context.Context, why purpose) (*file, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, errClosed
	}
	if x.file != nil && !x.file.InPlace() { // another process has replaced it
		old := x.file
		x.file = nil
		x.closing.Go(func() { _ = old.Close() }) // it waits for the users; its content is not needed
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

func openFile(ctx context.Context, path string, why purpose) (_ *file, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		if why == forReading {
			return nil, errMissing
		}
		if err := indexfile.Remove(path); err != nil { // SQLite would apply the log of an earlier file
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
			return connect(path, url.Values{"_txlock": {"immediate"}, "_pragma": {"secure_delete(1)"}})
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

// createFile creates an empty file that only the user can read. SQLite gives its
// log the same mode.
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

// prepare creates the schema in an empty file.
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

// check returns errMissing for an empty file and errDamaged for another version.
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

// isDamage reports whether err means that the index must be replaced.
func isDamage(err error) bool { return indexfile.IsDamage(err) || errors.Is(err, errDamaged) }

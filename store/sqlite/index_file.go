package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent/internal/indexfile"
)

// indexVersion is the version of the index's schema and of the way texts are
// cut into words. An older index is made anew; a newer one is left alone.
const indexVersion = 1

// indexApplicationID is in the header of an index; it reads "sqni".
const indexApplicationID = 0x73716e69

// The words are cut by package words, never by SQLite: the ascii tokenizer
// takes every other character for a part of a word, so that it only splits at
// the spaces we put. The scope of a thought is its session and its owner.
const indexSchema = `
CREATE TABLE state(
	one INTEGER PRIMARY KEY CHECK (one = 1),
	store TEXT NOT NULL,       -- identity of the store that is indexed
	mark INTEGER NOT NULL,     -- thoughts up to this id are indexed
	forgotten INTEGER NOT NULL,-- deletions up to this number are carried out
	docs INTEGER NOT NULL,     -- thoughts in the index
	tokens INTEGER NOT NULL    -- words in them
);
CREATE TABLE docs(id INTEGER PRIMARY KEY, tokens INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(text, note, scope, content='', contentless_delete=1, tokenize='ascii');
`

// indexPath returns where the index of the store at path is.
func indexPath(path string) string { return strings.TrimSuffix(path, ".db") + "-index.db" }

// An indexFile is an index that is open.
type indexFile struct {
	*indexfile.File
	damaged atomic.Bool // a search could not read it
}

// A purpose says what an index is opened for.
type purpose int

const (
	forReading purpose = iota // it must exist
	forWriting                // it is made if it is missing; the caller holds the lock
)

var (
	errNoIndex  = errors.New("there is no index")
	errDamaged  = errors.New("the index does not fit the store")
	errNewIndex = errors.New("the index was written by a newer version of the program")
)

// acquire returns the open index, which the caller releases.
func (x *index) acquire(ctx context.Context, why purpose) (*indexFile, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, errNoIndex
	}
	if x.file != nil && !x.file.InPlace() { // deleted, perhaps made anew, by somebody else
		old := x.file
		x.file = nil
		x.ended.Go(func() { old.Close() }) //nolint:errcheck // nothing of it is needed
	}
	if x.file == nil {
		f, err := x.open(ctx, why)
		if err != nil {
			return nil, err
		}
		x.file = f
	}
	x.file.Use()
	return x.file, nil
}

func (x *index) open(ctx context.Context, why purpose) (_ *indexFile, err error) {
	if why == forWriting {
		if _, err := os.Stat(x.path); errors.Is(err, os.ErrNotExist) {
			if err := indexfile.Remove(x.path); err != nil { // the log of an earlier file would be taken for its own
				return nil, err
			}
			if err := create(x.path); err != nil {
				return nil, err
			}
		}
	}
	info, err := os.Stat(x.path)
	if err != nil {
		return nil, errNoIndex
	}
	open, err := indexfile.Open(x.path, info, x.connect)
	if err != nil {
		return nil, err
	}
	f := &indexFile{File: open}
	if why == forWriting {
		err = f.prepare(ctx, x.identity, x.store.journal)
	}
	if err == nil {
		err = f.check(ctx, x.identity)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// connect returns connections to the file, of the same kind as the store's.
func (x *index) connect(writes bool) (*sql.DB, error) {
	like := Store{path: x.path, readOnly: x.store.readOnly, patience: 5 * time.Second}
	like.immutable = like.readOnly && unchanging(x.path)
	pragmas := []string{"synchronous(normal)", "journal_size_limit(67108864)"}
	if !writes {
		pragmas = append(pragmas, "query_only(1)")
	}
	return sql.Open("sqlite", like.dsn(pragmas...))
}

// prepare makes the schema in an empty file.
func (f *indexFile) prepare(ctx context.Context, identity, journal string) error {
	if version, _, err := indexfile.Version(ctx, f.Writer, indexApplicationID); err != nil || version != 0 {
		return err
	}
	if _, err := f.Writer.ExecContext(ctx, "PRAGMA journal_mode="+journal); err != nil {
		return err
	}
	return indexfile.InTx(ctx, f.Writer, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, indexSchema); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO state VALUES (1, ?, 0, 0, 0, 0)", identity); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", indexVersion, indexApplicationID))
		return err
	})
}

// check returns an error unless f is an index of the store, as we make them.
func (f *indexFile) check(ctx context.Context, identity string) error {
	version, _, err := indexfile.Version(ctx, f.Readers, indexApplicationID)
	switch {
	case err != nil:
		return err
	case version > indexVersion:
		return errNewIndex
	case version < indexVersion:
		return errDamaged
	}
	st, err := f.state(ctx, f.Readers)
	if err == nil && st.store != identity {
		err = errDamaged
	}
	return err
}

// An indexState is how far an index is.
type indexState struct {
	store                         string
	mark, forgotten, docs, tokens int64
}

func (f *indexFile) state(ctx context.Context, from indexfile.Queryer) (st indexState, err error) {
	err = from.QueryRowContext(ctx, "SELECT store, mark, forgotten, docs, tokens FROM state").
		Scan(&st.store, &st.mark, &st.forgotten, &st.docs, &st.tokens)
	return st, err
}

// isDamage reports whether err means that the index must be made anew.
func isDamage(err error) bool { return indexfile.IsDamage(err) || errors.Is(err, errDamaged) }

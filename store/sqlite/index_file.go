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

// indexVersion is the version of the index's schema and tokenizer. An older index
// is rebuilt, a newer one is not used.
const indexVersion = 3

// indexApplicationID marks the header of an index. In ASCII it is "sqni".
const indexApplicationID = 0x73716e69

// Package words splits the text into tokens, which are stored with spaces between
// them: the tokenizer ascii splits there and nowhere inside a token. The column
// scope has the tokens of a thought's session and owner.
const indexSchema = `
CREATE TABLE state(
	one INTEGER PRIMARY KEY CHECK (one = 1),
	store TEXT NOT NULL,       -- identity of the store
	mark INTEGER NOT NULL,     -- thoughts up to this id are indexed
	anchor TEXT NOT NULL,      -- the last of them, see selectExtent
	anchored INTEGER NOT NULL, -- its session
	forgotten INTEGER NOT NULL,-- deletions up to this id are applied
	erased INTEGER NOT NULL,   -- the words of deletions up to this id are overwritten
	docs INTEGER NOT NULL,     -- thoughts in the index
	tokens INTEGER NOT NULL    -- tokens in them
);
CREATE TABLE docs(id INTEGER PRIMARY KEY, tokens INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(text, note, scope, content='', contentless_delete=1, tokenize='ascii');
`

// indexPath returns the path of the index for the store at path.
func indexPath(path string) string { return strings.TrimSuffix(path, ".db") + "-index.db" }

// An indexFile is an open index.
type indexFile struct {
	*indexfile.File
	damaged atomic.Bool // set by a search that failed to read it
}

// indexBusyTimeout is the maximum wait for SQLite's locks on the index.
const indexBusyTimeout = 5 * time.Second

// An openMode says how an index is opened.
type openMode int

const (
	forReading openMode = iota // the file must exist
	forWriting                 // the file is created if missing; the caller holds the lock
)

var (
	errNoIndex  = errors.New("there is no index")
	errDamaged  = errors.New("the index does not match the store")
	errNewIndex = errors.New("the index was written by a newer version of the program")
)

// acquire returns the open index, opening it if necessary. The caller releases it.
func (x *index) acquire(ctx context.Context, m openMode) (*indexFile, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, errNoIndex
	}
	if x.file != nil && !x.file.InPlace() { // removed or replaced by another process
		old := x.file
		x.file = nil
		x.done.Go(func() { old.Close() }) //nolint:errcheck // the file is not needed any more
	}
	if x.file == nil {
		f, err := x.open(ctx, m)
		if err != nil {
			return nil, err
		}
		x.file = f
	}
	x.file.Use()
	return x.file, nil
}

func (x *index) open(ctx context.Context, m openMode) (_ *indexFile, err error) {
	if m == forWriting {
		if _, err := os.Stat(x.path); errors.Is(err, os.ErrNotExist) {
			if err := indexfile.Remove(x.path); err != nil { // a -wal may be left
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
	if m == forWriting {
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

// connect is an [indexfile.Connect]. It opens the file in the same mode as the
// store's.
func (x *index) connect(writes bool) (*sql.DB, error) {
	s := Store{path: x.path, readOnly: x.store.readOnly, busyTimeout: indexBusyTimeout}
	s.immutable = s.readOnly && needsImmutable(x.path)
	pragmas := []string{"synchronous(normal)", "journal_size_limit(67108864)", "secure_delete(1)"}
	if !writes {
		pragmas = append(pragmas, "query_only(1)")
	}
	return sql.Open("sqlite", s.dsn(pragmas...))
}

// prepare creates the schema if the file is empty.
func (f *indexFile) prepare(ctx context.Context, identity, journal string) error {
	if version, _, err := indexfile.Version(ctx, f.Writer, indexApplicationID); err != nil || version != 0 {
		return err
	}
	if _, err := f.Writer.ExecContext(ctx, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode="+journal); err != nil {
		return err
	}
	return indexfile.InTx(ctx, f.Writer, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, indexSchema); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO state VALUES (1, ?, 0, '', 0, 0, 0, 0, 0)", identity); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", indexVersion, indexApplicationID))
		return err
	})
}

// check returns an error unless f is an index of the store with this identity, in
// the version of this program.
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

// An indexState is the row of the table state.
type indexState struct {
	store, anchor                                   string
	mark, anchored, forgotten, erased, docs, tokens int64
}

func (f *indexFile) state(ctx context.Context, from indexfile.Queryer) (st indexState, err error) {
	err = from.QueryRowContext(ctx, "SELECT store, mark, anchor, anchored, forgotten, erased, docs, tokens FROM state").
		Scan(&st.store, &st.mark, &st.anchor, &st.anchored, &st.forgotten, &st.erased, &st.docs, &st.tokens)
	return st, err
}

// isDamage reports whether err means that the index must be rebuilt.
func isDamage(err error) bool { return indexfile.IsDamage(err) || errors.Is(err, errDamaged) }

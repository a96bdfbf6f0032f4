package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/indexfile"
)

// A Residue says where text of deleted sessions may be left. The zero Residue means
// that no file of the store holds any.
type Residue struct {
	// Log is the size in bytes of the write-ahead logs of the store and its index
	// that could not be emptied because another process reads them. They are
	// emptied after that process has ended its read.
	Log int64 `json:"log,omitempty"`
	// Index reports that the search index could not be cleaned: another process
	// updates it, or it failed.
	Index bool `json:"index,omitempty"`
	// HeldBy names the processes that read the store or update its index, such as
	// "sqlite3 (process 1234)", separated by commas. It is empty if they are not known.
	HeldBy string `json:"heldBy,omitempty"`
	// OldLayout reports that the file was created by a version that did not
	// overwrite deleted text. [Store.Compact] rewrites it.
	OldLayout bool `json:"oldLayout,omitempty"`
}

// Sizes and waits of Erase.
const (
	vacuumPages     = 256                    // pages per transaction, 1 MiB
	mergePages      = 256                    // of the index, per transaction
	checkpointWait  = 100 * time.Millisecond // for readers; writers wait meanwhile
	eraseIndexWait  = 5 * time.Second        // for a process that updates the index
	eraseIndexRetry = 50 * time.Millisecond
)

// Erase removes what deletions leave in the files: it returns unused pages to the
// file system, overwrites copies that SQLite left in other pages, removes the words
// of deleted thoughts from the search index and empties the write-ahead logs. A deletion overwrites its text in the file
// itself; the indexer calls Erase after the next pause in writing.
//
// It works in small transactions. It returns what it could not remove within a few
// seconds.
func (s *Store) Erase(ctx context.Context) (Residue, error) {
	r, err := s.eraseMain(ctx)
	if err != nil {
		return r, s.wrap(err)
	}
	if s.index == nil {
		_, missing := os.Stat(indexPath(s.path))
		r.Index = missing == nil
		r.HeldBy = s.heldBy(r)
		return r, nil
	}
	n, done, err := s.index.eraseAll(ctx)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "removing deleted text from the search index", "index", s.index.path, "error", err)
		err = nil
	}
	r.Log += n
	r.Index = !done
	r.HeldBy = s.heldBy(r)
	return r, s.wrap(err)
}

// heldBy returns the processes that keep Erase from finishing.
func (s *Store) heldBy(r Residue) string {
	var names []string
	add := func(all []*holder) {
		for _, h := range all {
			names = append(names, h.String())
		}
	}
	if r.Log > 0 {
		// The bytes of the -shm that readers lock, in "WAL-Index File Format" of SQLite.
		add(lockHolders(partOfFile, &byteRange{123, 127}, s.path+"-shm", indexPath(s.path)+"-shm"))
	}
	if r.Index {
		add(lockHolders(wholeFile, nil, indexPath(s.path)+".lock"))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// cleanUp calls Erase if there was a deletion since the last call, and reports
// whether something is left.
func (s *Store) cleanUp(ctx context.Context) (left bool) {
	if s.readOnly || !s.residue.Swap(false) {
		return false
	}
	r, err := s.Erase(ctx)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		s.log.WarnContext(ctx, "removing deleted text from the files", "store", s.path, "error", err)
	}
	left = err != nil || r.Log > 0 || r.Index
	if left {
		s.residue.Store(true)
	}
	return left
}

// eraseMain shrinks the file of the store and empties its log.
func (s *Store) eraseMain(ctx context.Context) (r Residue, err error) {
	for more := true; more; {
		start := time.Now()
		err := s.transact(ctx, func(w *writer) (err error) {
			var layout int // outside of a transaction, SQLite returns an old value
			if err := w.conn.QueryRowContext(context.Background(), "PRAGMA auto_vacuum").Scan(&layout); err != nil {
				return err
			}
			if r.OldLayout = layout == 0; r.OldLayout {
				more = false
				return nil
			}
			more, err = vacuum(context.Background(), w.conn)
			return err
		})
		if err != nil {
			return r, err
		}
		if !more {
			break
		}
		select {
		case <-time.After(min(sweepPauseRatio*time.Since(start), time.Second)):
		case <-s.closed:
			return r, errors.New("the store is closed")
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
	if !r.OldLayout {
		err := clearGaps(ctx, s.readers, func(do func(conn) error) error {
			return s.transact(ctx, func(w *writer) error { return do(w.conn) })
		})
		if err != nil {
			return r, err
		}
	}
	err = s.withWriter(ctx, func(w *writer) error {
		r.Log, err = truncateLog(context.Background(), w.conn, s.path, s.busyTimeout)
		return err
	})
	return r, err
}

// A conn is a connection or a pool of one connection.
type conn interface {
	indexfile.Queryer
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// vacuum returns some unused pages to the file system, in one transaction. It
// reports whether there are more.
func vacuum(ctx context.Context, db conn) (more bool, err error) {
	var unused int
	if err := db.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&unused); err != nil || unused == 0 {
		return false, err
	}
	// Each page is a row, and only reading the rows moves the pages.
	rows, err := db.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages))
	if err != nil {
		return false, err
	}
	for rows.Next() {
	}
	return unused > vacuumPages, errors.Join(rows.Err(), rows.Close())
}

// truncateLog copies the write-ahead log of the file at path into the file and
// empties it. If a reader prevents that for longer than checkpointWait, it returns
// the size of the log. It sets the busy timeout of db to restore.
func truncateLog(ctx context.Context, db conn, path string, restore time.Duration) (left int64, err error) {
	timeout := func(d time.Duration) error {
		_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout=%d", d.Milliseconds()))
		return err
	}
	if err := timeout(checkpointWait); err != nil {
		return 0, err
	}
	var busy, frames, copied int
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied)
	if err := errors.Join(err, timeout(restore)); err != nil || busy == 0 {
		return 0, err
	}
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// eraseAll brings the index up to date, which removes the words of deleted
// thoughts, then shrinks its file and empties its log. It returns the size of a log
// that a reader keeps, and whether the index holds no deleted words.
func (x *index) eraseAll(ctx context.Context) (log int64, done bool, err error) {
	deadline := time.Now().Add(eraseIndexWait)
	for {
		err := x.update(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errIndexLocked) {
			return 0, false, err
		}
		if time.Now().After(deadline) {
			return 0, false, nil
		}
		select {
		case <-time.After(eraseIndexRetry):
		case <-ctx.Done():
			return 0, false, ctx.Err()
		}
	}
	x.updating.Lock()
	defer x.updating.Unlock()
	switch held, err := x.lock.TryLock(); {
	case err != nil:
		return 0, false, err
	case !held: // the process that updates the index shrinks it as well
		return 0, true, nil
	}
	defer x.lock.Unlock() //nolint:errcheck // the kernel releases the lock when the process exits
	ctx = context.WithoutCancel(ctx)
	f, err := x.acquire(ctx, forReading)
	if errors.Is(err, errNoIndex) {
		return 0, true, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Release()
	for more := true; more; {
		if more, err = vacuum(ctx, f.Writer); err != nil {
			return 0, false, err
		}
	}
	if err := clearGaps(ctx, f.Readers, f.inTx(ctx)); err != nil {
		return 0, false, err
	}
	log, err = truncateLog(ctx, f.Writer, x.path, indexBusyTimeout)
	return log, err == nil, err
}

// erase removes the words of deleted thoughts from the index, and notes that this
// is done up to the deletion forgotten. FTS5 only marks deleted rows of a
// contentless table; merging all segments to one drops them.
func (f *indexFile) erase(ctx context.Context, forgotten int64) error {
	return indexfile.InTx(ctx, f.Writer, func(tx *sql.Tx) error {
		var before, after int64
		if err := tx.QueryRowContext(ctx, "SELECT total_changes()").Scan(&before); err != nil {
			return err
		}
		// A negative number merges all segments, and continues such a merge.
		if _, err := tx.ExecContext(ctx, "INSERT INTO words(words, rank) VALUES ('merge', ?)", -mergePages); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "SELECT total_changes()").Scan(&after); err != nil {
			return err
		}
		if after-before >= 2 { // the statement itself counts as one change
			return nil
		}
		_, err := tx.ExecContext(ctx, "UPDATE state SET erased = ?", forgotten)
		return err
	})
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"strings"

	"github.com/sequent-dev/sequent/internal/indexfile"
	"github.com/sequent-dev/sequent/store/internal/indexer"
	"github.com/sequent-dev/sequent/words"
)

// Statements of the indexer on the store.
const (
	selectExtent = `
		SELECT ifnull((SELECT max(id) FROM thoughts), 0),
			ifnull((SELECT min(id) FROM forgotten), 0),
			ifnull((SELECT max(id) FROM forgotten), 0),
			ifnull((` + selectAnchor + `), ''),
			EXISTS (SELECT 1 FROM forgotten WHERE id > :forgotten AND session = :anchored)`

	// selectAnchor identifies the last thought up to the mark by its hash, or by its
	// time if it has none. If the store was set back to an earlier state and written
	// to again, it has another thought there.
	selectAnchor = `
		SELECT id || ' ' || session || ' ' || iif(hash <> x'', hex(hash), at)
		FROM thoughts WHERE id <= :mark AND session <> 0 ORDER BY id DESC LIMIT 1`
	selectAnchored = `
		SELECT session FROM thoughts WHERE id <= ? AND session <> 0 ORDER BY id DESC LIMIT 1`
	selectForgotten = `
		SELECT id, session FROM forgotten WHERE id > ? ORDER BY id LIMIT 100`
	selectUnindexed = `
		SELECT t.id, t.session, s.owner, t.text, t.note
		FROM thoughts t CROSS JOIN tool_sessions s ON s.key = t.session
		WHERE t.id > ? ORDER BY t.id LIMIT ?`
)

// An extent is the range of ids in the store, and what the store has at the mark of an
// index.
type extent struct {
	last                          int64 // greatest id ever assigned to a thought
	firstForgotten, lastForgotten int64 // recorded deletions
	anchor                        string
	deleted                       bool // the session of the index's anchor, but not from the index
}

// extentOf returns the extent of a store for an index at st.
func extentOf(ctx context.Context, store querier, st indexState) (e extent, err error) {
	err = store.QueryRowContext(ctx, selectExtent,
		sql.Named("mark", st.mark), sql.Named("forgotten", st.forgotten), sql.Named("anchored", st.anchored)).
		Scan(&e.last, &e.firstForgotten, &e.lastForgotten, &e.anchor, &e.deleted)
	return e, err
}

// anchor returns the anchor of an index with a mark, and its session.
func (x *index) anchor(ctx context.Context, mark int64) (anchor string, session int64, err error) {
	tx, err := x.store.readers.BeginTx(ctx, nil) // both of one snapshot
	if err != nil {
		return "", 0, err
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	err = tx.QueryRowContext(ctx, selectAnchor, sql.Named("mark", mark)).Scan(&anchor)
	if err == nil {
		err = tx.QueryRowContext(ctx, selectAnchored, mark).Scan(&session)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil // all are deleted
	}
	return anchor, session, err
}

// upToDate reports whether the index has everything in the store. It needs no
// lock.
func (x *index) upToDate(ctx context.Context) bool {
	f, err := x.acquire(ctx, forReading)
	if err != nil {
		return false
	}
	defer f.Release()
	st, err := f.state(ctx, f.Readers)
	if err != nil {
		return false
	}
	e, err := extentOf(ctx, x.store.readers, st)
	return err == nil && !f.damaged.Load() && e.fits(st) && e.last <= st.mark && e.lastForgotten == st.forgotten && st.erased == st.forgotten
}

// fits reports whether an index at st is of the store and can be updated. It is not
// after the store was set back to an earlier state, nor if the store no longer records
// deletions that the index has not applied.
func (e extent) fits(st indexState) bool {
	return st.mark <= e.last && (st.anchor == e.anchor || st.anchor != "" && e.deleted) && st.forgotten <= e.lastForgotten &&
		(e.firstForgotten <= st.forgotten+1 || st.mark == 0)
}

// write adds the missing thoughts to the index and removes the deleted ones. The
// caller holds the lock.
//
// It checks ctx only between transactions: database/sql closes a connection whose
// transaction was cancelled in the background, possibly after the store was closed
// and its directory removed.
func (x *index) write(ctx context.Context) error {
	parent := ctx
	ctx = context.WithoutCancel(ctx)
	f, err := x.acquire(ctx, forWriting)
	if err != nil {
		return err
	}
	defer f.Release()
	if f.damaged.Load() {
		return errDamaged
	}
	for f.InPlace() {
		if err := parent.Err(); err != nil {
			return err
		}
		st, err := f.state(ctx, f.Writer)
		if err != nil {
			return err
		}
		e, err := extentOf(ctx, x.store.readers, st)
		if err != nil {
			return err
		}
		if !e.fits(st) {
			return errDamaged
		}
		switch {
		case st.mark == 0 && st.forgotten < e.lastForgotten: // the index is empty
			err = f.setForgotten(ctx, e.lastForgotten)
		case st.forgotten < e.lastForgotten:
			err = x.forget(ctx, f, st)
		case st.erased < st.forgotten:
			err = f.erase(ctx, st.forgotten)
		case st.mark < e.last:
			err = x.add(ctx, f, st.mark, e.last)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
	x.schedule.Committed(0) // another process removed or replaced the file
	return nil
}

// A document is the indexed part of a thought.
type document struct {
	id, session       int64
	owner, text, note string
}

// add indexes the next batch of thoughts with ids greater than mark. The greatest
// id in the store is last.
func (x *index) add(ctx context.Context, f *indexFile, mark, last int64) error {
	batch, err := x.unindexed(ctx, mark)
	if err != nil {
		return err
	}
	if len(batch) > 0 { // otherwise the rest up to last was deleted
		last = batch[len(batch)-1].id
	}
	anchor, session, err := x.anchor(ctx, last)
	if err != nil {
		return err
	}
	return indexfile.InTx(ctx, f.Writer, func(tx *sql.Tx) error {
		fts, err := tx.PrepareContext(ctx, "INSERT INTO words(rowid, text, note, scope) VALUES (?, ?, ?, ?)")
		if err != nil {
			return err
		}
		defer fts.Close()
		docs, err := tx.PrepareContext(ctx, "INSERT INTO docs VALUES (?, ?)")
		if err != nil {
			return err
		}
		defer docs.Close()
		var text, note []byte
		total := 0
		for _, d := range batch {
			var n, m int
			text, n = words.AppendTokens(text[:0], d.text)
			note, m = words.AppendTokens(note[:0], d.note)
			scope := sessionToken(d.session) + " " + ownerToken(d.owner)
			if _, err := fts.ExecContext(ctx, d.id, string(text), string(note), scope); err != nil {
				return err
			}
			if _, err := docs.ExecContext(ctx, d.id, n+m); err != nil {
				return err
			}
			total += n + m
			runtime.Gosched() // prefer goroutines that write or search
		}
		_, err = tx.ExecContext(ctx, "UPDATE state SET mark = ?, anchor = ?, anchored = ?, docs = docs + ?, tokens = tokens + ?",
			last, anchor, session, len(batch), total)
		return err
	})
}

func (x *index) unindexed(ctx context.Context, mark int64) ([]document, error) {
	rows, err := x.store.readers.QueryContext(ctx, selectUnindexed, mark, indexer.BatchSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var batch []document
	for size := 0; size < indexer.BatchBytes && rows.Next(); {
		var d document
		if err := rows.Scan(&d.id, &d.session, &d.owner, &d.text, &d.note); err != nil {
			return nil, err
		}
		size += len(d.text) + len(d.note)
		batch = append(batch, d)
	}
	return batch, rows.Err()
}

// forget applies the next deletions to an index at st. The thoughts of a large session
// take several transactions.
func (x *index) forget(ctx context.Context, f *indexFile, st indexState) error {
	done := st.forgotten
	type deletion struct{ id, session int64 }
	var all []deletion
	rows, err := x.store.readers.QueryContext(ctx, selectForgotten, done)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var d deletion
		if err := rows.Scan(&d.id, &d.session); err != nil {
			return err
		}
		all = append(all, d)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	anchor, session, err := x.anchor(ctx, st.mark)
	if err != nil {
		return err
	}
	return indexfile.InTx(ctx, f.Writer, func(tx *sql.Tx) error {
		room := indexer.BatchSize
		for _, d := range all {
			ids, err := collectIDs(tx.QueryContext(ctx,
				"SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", "scope : "+sessionToken(d.session), room+1))
			if err != nil {
				return err
			}
			for _, id := range ids[:min(len(ids), room)] {
				if err := forgetThought(ctx, tx, id); err != nil {
					return err
				}
			}
			if room -= len(ids); room < 0 {
				break
			}
			done = d.id
		}
		_, err := tx.ExecContext(ctx, "UPDATE state SET forgotten = ?, anchor = ?, anchored = ?", done, anchor, session)
		return err
	})
}

func forgetThought(ctx context.Context, tx *sql.Tx, id int64) error {
	for _, stmt := range []string{
		"UPDATE state SET docs = docs - 1, tokens = tokens - ifnull((SELECT tokens FROM docs WHERE id = ?), 0)",
		"DELETE FROM docs WHERE id = ?",
		"DELETE FROM words WHERE rowid = ?",
	} {
		if _, err := tx.ExecContext(ctx, stmt, id); err != nil {
			return err
		}
	}
	return nil
}

func (f *indexFile) setForgotten(ctx context.Context, n int64) error {
	_, err := f.Writer.ExecContext(ctx, "UPDATE state SET forgotten = ?1, erased = ?1", n)
	return err
}

func collectIDs(rows *sql.Rows, err error) ([]int64, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// sessionToken and ownerToken return the tokens in a thought's scope.
func sessionToken(session int64) string { return fmt.Sprintf("s%d", session) }

func ownerToken(owner string) string {
	h := fnv.New64a()
	h.Write([]byte(owner))
	return strings.ToLower(fmt.Sprintf("o%016x", h.Sum64()))
}

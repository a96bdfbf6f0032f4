package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/internal/words"
)

// An indexer brings the search index up to date, behind the writers. One
// process at a time does it; searches read what is missing.
//
// It follows transactions in their order, up to the oldest that is still under
// way: ids alone are not in the order of commits.
type indexer struct {
	pokes   chan struct{} // something was written; holds at most one
	hurries chan struct{} // somebody searches and had much to read; holds at most one
	written atomic.Int64  // thoughts, by this process
}

func (x *indexer) init() { x.pokes, x.hurries = make(chan struct{}, 1), make(chan struct{}, 1) }

// wrote tells the indexer that so many thoughts were written. It does not wait.
func (x *indexer) wrote(n int) {
	x.written.Add(int64(n))
	select {
	case x.pokes <- struct{}{}:
	default:
	}
}

// hurry tells the indexer that the index is missed. It does not wait.
func (x *indexer) hurry() {
	select {
	case x.hurries <- struct{}{}:
	default:
	}
}

const (
	quiet      = 250 * time.Millisecond // without a write, before the indexer begins
	maxBehind  = 10_000                 // thoughts that wait for a quiet moment
	longRead   = 1000                   // thoughts that a search reads without an index before it asks for one
	lookAgain  = 2 * time.Second        // while something cannot be indexed yet
	batchSize  = 500                    // thoughts a transaction
	batchBytes = 4 << 20                // text a transaction, which may end a batch sooner
)

// settle waits until writing pauses, but not for ever: an index is for those who
// search, and costs whoever writes.
func (x *indexer) settle(ctx context.Context) {
	begun := x.written.Load()
	for before, now := int64(-1), begun; now != before && now-begun < maxBehind; now = x.written.Load() {
		before = now
		select {
		case <-ctx.Done():
			return
		case <-x.hurries:
			return
		case <-time.After(quiet):
		}
	}
}

// index brings the index up to date after every write, until ctx is done.
func (s *Store) index(ctx context.Context) {
	told := ""
	s.indexer.wrote(0) // there may be something from before
	for again := (<-chan time.Time)(nil); ; {
		select {
		case <-ctx.Done():
			return
		case <-s.indexer.pokes:
			s.indexer.settle(ctx)
		case <-s.indexer.hurries:
		case <-again:
		}
		again = nil
		done, err := s.catchUp(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if err.Error() != told {
				told = err.Error()
				s.log.WarnContext(ctx, "the search index cannot be brought up to date; searches read the thoughts instead", "error", err)
			}
			again = time.After(lookAgain)
		case !done:
			again = time.After(lookAgain)
		default:
			told = ""
		}
	}
}

// catchUp indexes what is missing. It reports whether that was all: something
// may still be under way, or another process may be at it.
func (s *Store) catchUp(ctx context.Context) (all bool, err error) {
	for more := true; more; {
		limited, cancel := context.WithTimeout(ctx, s.timeout)
		err := s.inTx(limited, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {
			more, all, err = indexBatch(limited, tx)
			return err
		})
		cancel()
		if err != nil {
			return false, err
		}
	}
	return all, nil
}

const (
	lockState = `SELECT tx, id FROM index_state FOR UPDATE SKIP LOCKED`

	selectUnindexed = `
		SELECT id, tx, text, note FROM thoughts
		WHERE (tx, id) > ($1::xid8, $2::bigint) AND tx < pg_snapshot_xmin(pg_current_snapshot())
		ORDER BY tx, id LIMIT $3`

	insertWords = `
		INSERT INTO thought_words (id, length, words)
		SELECT id, length, words::tsvector FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS t (id, length, words)`

	updateState = `UPDATE index_state SET tx = $1::xid8, id = $2, docs = docs + $3, tokens = tokens + $4`

	selectLeft = `SELECT EXISTS (SELECT FROM thoughts WHERE (tx, id) > ($1::xid8, $2::bigint))`
)

// indexBatch indexes the next thoughts. more tells that there may be some left
// that can be indexed now, all that there is nothing left.
func indexBatch(ctx context.Context, tx pgx.Tx) (more, all bool, err error) {
	var markTx uint64
	var markID int64
	if err := tx.QueryRow(ctx, lockState).Scan(&markTx, &markID); err != nil {
		if isNoRows(err) {
			err = nil // another process is at it
		}
		return false, false, err
	}
	rows, err := tx.Query(ctx, selectUnindexed, markTx, markID, batchSize)
	if err != nil {
		return false, false, err
	}
	defer rows.Close()
	var ids, lengths []int64
	var vectors []*string
	size, tokens := 0, int64(0)
	for rows.Next() {
		var text, note string
		if size >= batchBytes {
			more = true
			break
		}
		if err := rows.Scan(&markID, &markTx, &text, &note); err != nil {
			return false, false, err
		}
		if err := unpackAll(&text, &note); err != nil {
			return false, false, err
		}
		size += len(text) + len(note)
		vector, length, ok := words.TSVector(text, note)
		ids, lengths, vectors = append(ids, markID), append(lengths, int64(length)), append(vectors, &vector)
		if !ok {
			vectors[len(vectors)-1] = nil
		}
		tokens += int64(length)
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return false, false, err
	}
	if len(ids) > 0 {
		if _, err := tx.Exec(ctx, insertWords, ids, lengths, vectors); err != nil {
			return false, false, err
		}
		if _, err := tx.Exec(ctx, updateState, markTx, markID, len(ids), tokens); err != nil {
			return false, false, err
		}
	}
	more = more || len(ids) == batchSize
	var left bool
	err = tx.QueryRow(ctx, selectLeft, markTx, markID).Scan(&left)
	return more, !left, err
}

package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/words"
)

// An indexer updates the search index after commits. One process at a time does
// it; searches read the thoughts that are not indexed yet.
//
// It indexes thoughts in the order of their transactions, up to the oldest one that
// is still running: the order of ids is not the order of commits.
type indexer struct {
	writes  chan struct{} // capacity one; wakes the indexer after a commit
	urgent  chan struct{} // capacity one; wakes the indexer because a search was slow
	written atomic.Int64  // thoughts committed by this Store
}

func (x *indexer) init() { x.writes, x.urgent = make(chan struct{}, 1), make(chan struct{}, 1) }

// committed wakes the indexer after a commit of n thoughts. It then waits for a
// pause in writing.
func (x *indexer) committed(n int) {
	x.written.Add(int64(n))
	select {
	case x.writes <- struct{}{}:
	default:
	}
}

// expedite wakes the indexer, which then does not wait for a pause in writing.
func (x *indexer) expedite() {
	select {
	case x.urgent <- struct{}{}:
	default:
	}
}

const (
	writePause   = 250 * time.Millisecond // without a commit, before the indexer starts
	indexRetry   = 2 * time.Second        // after a failure, or if there is something that cannot be indexed yet
	maxBacklog   = 10_000                 // thoughts that wait for a pause in writing
	maxUnindexed = 1000                   // thoughts that a search reads before it calls expedite
	batchSize    = 500                    // thoughts per transaction
	batchBytes   = 4 << 20                // text per transaction
)

// waitForPause waits for a pause in writing, because indexing slows writers down.
// It returns earlier if a search is slow or the backlog reaches maxBacklog.
func (x *indexer) waitForPause(ctx context.Context) {
	start := x.written.Load()
	for before, now := int64(-1), start; now != before && now-start < maxBacklog; now = x.written.Load() {
		before = now
		select {
		case <-ctx.Done():
			return
		case <-x.urgent:
			return
		case <-time.After(writePause):
		}
	}
}

// runIndexer updates the index whenever it is woken, until ctx ends.
func (s *Store) runIndexer(ctx context.Context) {
	logged := ""           // the last error, so that it is logged once
	s.indexer.committed(0) // there may be thoughts from before
	for retry := (<-chan time.Time)(nil); ; {
		select {
		case <-ctx.Done():
			return
		case <-s.indexer.writes:
			s.indexer.waitForPause(ctx)
		case <-s.indexer.urgent:
		case <-retry:
		}
		retry = nil
		complete, err := s.updateIndex(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if err.Error() != logged {
				logged = err.Error()
				s.log.WarnContext(ctx, "updating the search index; searches read the thoughts instead", "error", err)
			}
			retry = time.After(indexRetry)
		case !complete:
			retry = time.After(indexRetry)
		default:
			logged = ""
		}
	}
}

// updateIndex indexes the missing thoughts and reports whether the index is then
// complete. It is not if a transaction is still running or another process is
// indexing.
func (s *Store) updateIndex(ctx context.Context) (complete bool, err error) {
	for more := true; more; {
		limited, cancel := context.WithTimeout(ctx, s.statementTimeout)
		err := s.inTx(limited, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {
			more, complete, err = indexBatch(limited, tx)
			return err
		})
		cancel()
		if err != nil {
			return false, err
		}
	}
	return complete, nil
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

// indexBatch indexes the next batch. It reports whether there may be more thoughts
// that can be indexed now, and whether the index is complete.
func indexBatch(ctx context.Context, tx pgx.Tx) (more, complete bool, err error) {
	var markTx uint64
	var markID int64
	if err := tx.QueryRow(ctx, lockState).Scan(&markTx, &markID); err != nil {
		if isNoRows(err) {
			err = nil // another process holds the lock
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

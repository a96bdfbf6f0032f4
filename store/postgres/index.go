package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/store/internal/indexer"
	"github.com/sequent-dev/sequent/words"
)

// indexRetry is the wait of the indexer after a failure, or if some thoughts cannot
// be indexed yet.
const indexRetry = 2 * time.Second

// runIndexer updates the index according to the schedule, until ctx ends. One
// process at a time does it; searches read the thoughts that are not indexed yet.
//
// It indexes thoughts in the order of their transactions, up to the oldest one that
// is still running: the order of ids is not the order of commits.
func (s *Store) runIndexer(ctx context.Context) {
	logged := ""             // the last error, so that it is logged once
	s.needsIndex(s.parts...) // there may be thoughts from before
	s.schedule.Committed(0)
	for retry := (<-chan time.Time)(nil); s.schedule.Wait(ctx, retry) == nil; {
		retry = nil
		mark := s.schedule.Mark()
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
			s.schedule.Indexed(mark)
		}
	}
}

// IndexLag returns how many thoughts of this process may not be in the search index yet.
func (s *Store) IndexLag() int64 { return s.schedule.Lag() }

// needsIndex adds to the parts that updateIndex indexes.
func (s *Store) needsIndex(parts ...*part) {
	var set uint64
	for _, p := range parts {
		set |= 1 << p.number
	}
	s.unindexed.Or(set)
}

// updateIndex indexes the missing thoughts of the parts that need it, and reports whether
// their indexes are then complete. One is not if a transaction is still running or another
// process is indexing; then its part still needs it.
func (s *Store) updateIndex(ctx context.Context) (complete bool, err error) {
	set := s.unindexed.Swap(0)
	complete = true
	for _, p := range s.parts {
		if set&(1<<p.number) == 0 {
			continue
		}
		done, failed := s.updatePart(ctx, p)
		if !done || failed != nil {
			s.needsIndex(p)
			complete = false
		}
		err = errors.Join(err, failed)
	}
	return complete, err
}

// updatePart indexes the missing thoughts of a part, and reports whether its index is then
// complete.
func (s *Store) updatePart(ctx context.Context, p *part) (complete bool, err error) {
	for more := true; more; {
		limited, cancel := context.WithTimeout(ctx, s.statementTimeout)
		err := inTx(limited, s.pool, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {
			more, complete, err = p.indexBatch(limited, tx)
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
	lockState = `SELECT tx, id FROM schema.index_state FOR UPDATE SKIP LOCKED`

	selectUnindexed = `
		SELECT id, tx, text, note FROM schema.thoughts
		WHERE (tx, id) > ($1::xid8, $2::bigint) AND tx < ` + oldestTx + `
		ORDER BY tx, id LIMIT $3`

	insertWords = `
		INSERT INTO schema.thought_words (id, length, words)
		SELECT id, length, words::tsvector FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS t (id, length, words)`

	updateState = `UPDATE schema.index_state SET tx = $1::xid8, id = $2, docs = docs + $3, tokens = tokens + $4`

	selectLeft = `SELECT EXISTS (SELECT FROM schema.thoughts WHERE (tx, id) > ($1::xid8, $2::bigint))`
)

// indexBatch indexes the next batch. It reports whether there may be more thoughts
// that can be indexed now, and whether the index is complete.
func (p *part) indexBatch(ctx context.Context, tx pgx.Tx) (more, complete bool, err error) {
	var markTx uint64
	var markID int64
	if err := tx.QueryRow(ctx, p.sql(lockState)).Scan(&markTx, &markID); err != nil {
		if isNoRows(err) {
			err = nil // another process holds the lock
		}
		return false, false, err
	}
	rows, err := tx.Query(ctx, p.sql(selectUnindexed), markTx, markID, indexer.BatchSize)
	if err != nil {
		return false, false, err
	}
	defer rows.Close()
	var ids, lengths []int64
	var vectors []*string
	size, tokens := 0, int64(0)
	for rows.Next() {
		var text, note string
		if size >= indexer.BatchBytes {
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
		if _, err := tx.Exec(ctx, p.sql(insertWords), ids, lengths, vectors); err != nil {
			return false, false, err
		}
		if _, err := tx.Exec(ctx, p.sql(updateState), markTx, markID, len(ids), tokens); err != nil {
			return false, false, err
		}
	}
	more = more || len(ids) == indexer.BatchSize
	var left bool
	err = tx.QueryRow(ctx, p.sql(selectLeft), markTx, markID).Scan(&left)
	return more, !left, err
}

package postgres

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	// An append locks the session's row too. The statements after this one see its
	// thoughts.
	lockSession = `SELECT key FROM schema.tool_sessions WHERE owner = $1 AND id = $2 AND ($3::bigint = 0 OR epoch = $3) FOR UPDATE`

	// selectLocked selects those of locked sessions that were last updated before a time.
	selectLocked = `SELECT s.key, s.owner, s.id, ` + nowLen + ` FROM ` + fromSessions + ` WHERE s.key = ANY ($1) AND ` + nowUpdated + ` < $2`

	// The indexer locks this row too, so that both count the same thoughts.
	lockIndex = `SELECT FROM schema.index_state FOR UPDATE`

	deleteWords = `
		WITH deleted AS (
			DELETE FROM schema.thought_words w USING schema.thoughts t WHERE t.id = w.id AND t.session = ANY ($1) RETURNING w.length
		)
		UPDATE schema.index_state SET docs = docs - (SELECT count(*) FROM deleted),
			tokens = tokens - (SELECT coalesce(sum(length), 0) FROM deleted)`

	// lockKeys locks sessions again: Citus may have moved them to another worker since, but
	// not after deleteWords.
	lockKeys = `SELECT FROM schema.tool_sessions WHERE key = ANY ($1) FOR UPDATE`

	deleteThoughts = `DELETE FROM schema.thoughts WHERE session = ANY ($1)`
	deleteEntries  = `DELETE FROM schema.entries WHERE session = ANY ($1)`
	deleteSessions = `DELETE FROM schema.tool_sessions WHERE key = ANY ($1)`
)

// Delete implements [sequent.Store].
func (s *Store) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	p := s.part(k.Owner)
	err := s.retry(context.WithoutCancel(ctx), isRetryable, func(ctx context.Context) error {
		return inTx(ctx, s.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
			var key int64
			err := tx.QueryRow(ctx, p.sql(lockSession), pack(k.Owner), pack(string(k.ID)), epoch).Scan(&key)
			if isNoRows(err) {
				return record.NotFound(k.ID)
			}
			if err != nil {
				return err
			}
			return s.remove(ctx, tx, p, []int64{key}, s.payload(p, []sequent.Topic{k.Topic()}))
		})
	})
	s.feed.Touched(k.Topic()) // even after an error: it may have been of the connection only
	if err != nil {
		return s.wrap(ctx, writeError(err))
	}
	return nil
}

// remove deletes locked sessions and sends a notification, in one round trip.
func (s *Store) remove(ctx context.Context, tx pgx.Tx, p *part, keys []int64, payload string) error {
	if err := p.checkWriter(ctx, tx); err != nil {
		return err
	}
	b := new(pgx.Batch)
	b.Queue(p.sql(lockIndex))
	b.Queue(p.sql(deleteWords), keys)
	b.Queue(p.sql(lockKeys), keys)
	b.Queue(p.sql(deleteThoughts), keys)
	b.Queue(p.sql(deleteEntries), keys)
	b.Queue(p.sql(deleteSessions), keys)
	b.Queue(notify, s.channel, []string{payload})
	return tx.SendBatch(ctx, b).Close()
}

// Sweep deletes in small transactions, so that other processes do not wait long and
// each ends within the statement timeout.
const (
	sweepSessions = 100  // sessions per transaction
	sweepThoughts = 5000 // thoughts per transaction; the last session may exceed it
)

// Sweep implements [sequent.Store]. It skips sessions that are being written or
// deleted.
func (s *Store) Sweep(ctx context.Context, q sequent.SweepQuery, limit int) (total int, err error) {
	if err := s.checkOpen(ctx); err != nil {
		return 0, err
	}
	for _, p := range s.selected(q.Owner, q.AllOwners) {
		n, err := s.sweepPart(ctx, p, q, limit-total)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, s.wrap(ctx, ctx.Err())
}

// sweepPart deletes at most limit of the sessions of a part.
func (s *Store) sweepPart(ctx context.Context, p *part, q sequent.SweepQuery, limit int) (total int, err error) {
	for total < limit {
		var deleted []sequent.Topic
		err := s.retry(ctx, isRetryable, func(ctx context.Context) error {
			return inTx(ctx, s.pool, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {
				deleted, err = s.sweep(ctx, tx, p, q, min(limit-total, sweepSessions))
				return err
			})
		})
		if err != nil {
			return total, s.wrap(ctx, writeError(err))
		}
		if len(deleted) == 0 {
			break
		}
		total += len(deleted)
		s.feed.Touched(deleted...)
	}
	return total, nil
}

// sweep deletes some of the sessions that q selects, and returns their topics.
func (s *Store) sweep(ctx context.Context, tx pgx.Tx, p *part, q sequent.SweepQuery, limit int) (deleted []sequent.Topic, err error) {
	text, args := selectSweep(q, limit)
	rows, err := tx.Query(ctx, p.sql(text), args...)
	if err != nil {
		return nil, err
	}
	locked, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(locked) == 0 {
		return nil, err
	}
	// The statement that locks does not see a thought that was added between its beginning
	// and the moment at which it had the lock.
	before := int64(math.MaxInt64)
	if !q.Before.IsZero() {
		before = record.Ceil(q.Before)
	}
	if rows, err = tx.Query(ctx, p.sql(selectLocked), locked, before); err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []int64
	for thoughts := 0; rows.Next() && thoughts < sweepThoughts; {
		var key int64
		var owner, id string
		var n int
		if err := rows.Scan(&key, &owner, &id, &n); err != nil {
			return nil, err
		}
		thoughts += n
		if err := unpackAll(&owner, &id); err != nil {
			return nil, err
		}
		k := sequent.Key{Owner: owner, ID: sequent.ID(id)}
		keys, deleted = append(keys, key), append(deleted, k.Topic())
	}
	rows.Close()
	if err := rows.Err(); err != nil || len(keys) == 0 {
		return nil, err
	}
	return deleted, s.remove(ctx, tx, p, keys, s.payload(p, deleted))
}

// selectSweep returns the statement that selects and locks the sessions to delete.
// It can use an index on the time of expiry or update.
func selectSweep(q sequent.SweepQuery, limit int) (text string, args []any) {
	where := []string{"TRUE"}
	and := func(condition string, values ...any) {
		var places []any
		for _, v := range values {
			args = append(args, v)
			places = append(places, len(args))
		}
		where = append(where, fmt.Sprintf(condition, places...))
	}
	if !q.AllOwners {
		and("s.owner = $%d", pack(q.Owner))
	}
	if !q.Expired.IsZero() {
		and("s.expires IS NOT NULL AND s.expires <= $%d", record.Micros(q.Expired))
	}
	if !q.Before.IsZero() {
		before := record.Ceil(q.Before)
		and("s.period <= $%d AND "+nowUpdated+" < $%d", record.Period(before), before)
	}
	args = append(args, limit)
	return fmt.Sprintf("SELECT s.key FROM "+fromSessions+" WHERE %s LIMIT $%d FOR UPDATE OF s SKIP LOCKED",
		strings.Join(where, " AND "), len(args)), args
}

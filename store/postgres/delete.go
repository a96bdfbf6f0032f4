package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	// Whoever appends to a session has its row, so those thoughts are seen by
	// the statements that come after this one.
	lockSession = `SELECT key FROM tool_sessions WHERE owner = $1 AND id = $2 AND ($3::bigint = 0 OR epoch = $3) FOR UPDATE`

	// The indexer has this row too, so that it counts what it and this see.
	lockIndex = `SELECT FROM index_state FOR UPDATE`

	deleteWords = `
		WITH gone AS (
			DELETE FROM thought_words w USING thoughts t WHERE t.id = w.id AND t.session = ANY ($1) RETURNING w.length
		)
		UPDATE index_state SET docs = docs - (SELECT count(*) FROM gone),
			tokens = tokens - (SELECT coalesce(sum(length), 0) FROM gone)`

	deleteThoughts = `DELETE FROM thoughts WHERE session = ANY ($1)`
	deleteSessions = `DELETE FROM tool_sessions WHERE key = ANY ($1)`
)

// Delete implements [sequent.Store].
func (s *Store) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	err := s.again(context.WithoutCancel(ctx), repeatable, func(ctx context.Context) error {
		return s.inTx(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
			var key int64
			err := tx.QueryRow(ctx, lockSession, pack(k.Owner), pack(string(k.ID)), epoch).Scan(&key)
			if isNoRows(err) {
				return record.NotFound(k.ID)
			}
			if err != nil {
				return err
			}
			return s.remove(ctx, tx, []int64{key}, string(nameOf(k)))
		})
	})
	if err != nil {
		return s.wrap(ctx, outcome(err))
	}
	s.hub.Wake(nameOf(k))
	s.hub.Wake(anything)
	return nil
}

// remove deletes sessions that are locked, in one round trip.
func (s *Store) remove(ctx context.Context, tx pgx.Tx, keys []int64, notice string) error {
	b := new(pgx.Batch)
	b.Queue(lockIndex)
	b.Queue(deleteWords, keys)
	b.Queue(deleteThoughts, keys)
	b.Queue(deleteSessions, keys)
	b.Queue("SELECT pg_notify($1, $2)", s.channel, notice)
	return tx.SendBatch(ctx, b).Close()
}

// One transaction of Sweep deletes so much, but for the last session's thoughts:
// nobody waits long, and each ends within the time-out of statements.
const (
	sweepSessions = 100
	sweepThoughts = 5000
)

// Sweep implements [sequent.Store]. It passes over sessions that somebody writes
// to, or that another process deletes.
func (s *Store) Sweep(ctx context.Context, q sequent.SweepQuery, limit int) (total int, err error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	for total < limit {
		var gone []sequent.Key
		err := s.again(ctx, repeatable, func(ctx context.Context) error {
			return s.inTx(ctx, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {
				gone, err = s.sweep(ctx, tx, q, min(limit-total, sweepSessions))
				return err
			})
		})
		if err != nil {
			return total, s.wrap(ctx, outcome(err))
		}
		if len(gone) == 0 {
			break
		}
		total += len(gone)
		for _, k := range gone {
			s.hub.Wake(nameOf(k))
		}
		s.hub.Wake(anything)
	}
	return total, s.wrap(ctx, ctx.Err())
}

// sweep deletes some of the sessions that q selects.
func (s *Store) sweep(ctx context.Context, tx pgx.Tx, q sequent.SweepQuery, limit int) (gone []sequent.Key, err error) {
	text, args := doomed(q, limit)
	rows, err := tx.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []int64
	var told []*sequent.Write
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
		keys, gone = append(keys, key), append(gone, k)
		told = append(told, &sequent.Write{Header: sequent.Header{Key: k}})
	}
	rows.Close()
	if err := rows.Err(); err != nil || len(keys) == 0 {
		return nil, err
	}
	return gone, s.remove(ctx, tx, keys, notice(told))
}

// doomed returns the statement that finds sessions to delete, and locks them. An
// index has them together.
func doomed(q sequent.SweepQuery, limit int) (text string, args []any) {
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
		and("owner = $%d", pack(q.Owner))
	}
	if !q.Expired.IsZero() {
		and("expires IS NOT NULL AND expires <= $%d", record.Micros(q.Expired))
	}
	if !q.Before.IsZero() {
		before := record.Ceil(q.Before)
		and("period <= $%d AND updated < $%d", record.Period(before), before)
	}
	args = append(args, limit)
	return fmt.Sprintf("SELECT key, owner, id, len FROM tool_sessions WHERE %s LIMIT $%d FOR UPDATE SKIP LOCKED",
		strings.Join(where, " AND "), len(args)), args
}

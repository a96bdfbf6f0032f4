package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	deleteSession  = `DELETE FROM tool_sessions WHERE key = ?`
	deleteThoughts = `DELETE FROM thoughts WHERE session = ?`
	lastForgotten  = `SELECT max(id) FROM forgotten`

	// The row with the greatest id is replaced by an empty one and not deleted, because
	// SQLite would assign its id again.
	clearNewest = `
		REPLACE INTO thoughts (id, session, seq, number, total, text, more, after, at)
		SELECT id, 0, id, 0, 0, '', 0, 0, 0 FROM thoughts
		WHERE id = (SELECT max(id) FROM thoughts) AND session = ?`
	deleteCleared = `DELETE FROM thoughts WHERE session = 0 AND seq < (SELECT max(id) FROM thoughts)`
)

// Delete implements [sequent.Store].
func (s *Store) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	err := s.transact(ctx, func(w *writer) error {
		key, h, err := scanHeader(w.selectHeader.QueryRowContext(context.Background(), k.Owner, k.ID))
		if errors.Is(err, sql.ErrNoRows) || err == nil && epoch != 0 && h.Epoch != epoch {
			return record.NotFound(k.ID)
		}
		if err != nil {
			return err
		}
		return w.remove(key)
	})
	if err != nil {
		return s.wrap(err)
	}
	s.residue.Store(true)
	s.feed.Touched(k.Topic())
	s.scheduleIndexing(0)
	return nil
}

func (w *writer) remove(key int64) error {
	ctx := context.Background()
	if err := w.mayWrite(ctx); err != nil {
		return err
	}
	for _, stmt := range []*sql.Stmt{w.clearNewest, w.deleteThoughts, w.deleteSession} {
		if _, err := stmt.ExecContext(ctx, key); err != nil {
			return err
		}
	}
	if _, err := w.deleteCleared.ExecContext(ctx); err != nil {
		return err
	}
	w.added.forgotten++
	return w.lastForgotten.QueryRowContext(ctx).Scan(&w.last.forgotten)
}

// Sweep deletes in small transactions so that writers do not wait long.
const (
	sweepSessions   = 20  // sessions per transaction
	sweepThoughts   = 500 // thoughts per transaction; the last session may exceed it
	sweepPauseRatio = 3   // pause between transactions, relative to the previous one
)

// Sweep implements [sequent.Store].
func (s *Store) Sweep(ctx context.Context, q sequent.SweepQuery, limit int) (int, error) {
	total := 0
	for total < limit {
		var deleted []sequent.Key
		start := time.Now()
		err := s.transact(ctx, func(w *writer) (err error) {
			deleted, err = w.sweep(q, limit-total)
			return err
		})
		if err != nil {
			return total, s.wrap(err)
		}
		if len(deleted) == 0 {
			break
		}
		total += len(deleted)
		s.residue.Store(true)
		s.feed.Touched(topics(deleted)...)
		s.scheduleIndexing(0)
		select {
		case <-time.After(min(sweepPauseRatio*time.Since(start), time.Second)):
		case <-s.closed:
			return total, record.ErrClosed
		case <-ctx.Done():
		}
	}
	return total, s.wrap(ctx.Err())
}

func topics(keys []sequent.Key) []sequent.Topic {
	topics := make([]sequent.Topic, len(keys))
	for i, k := range keys {
		topics[i] = k.Topic()
	}
	return topics
}

// sweep deletes some of the sessions that q selects, and returns their keys.
func (w *writer) sweep(q sequent.SweepQuery, limit int) (deleted []sequent.Key, err error) {
	text, args := selectSweep(q, limit)
	rows, err := w.conn.QueryContext(context.Background(), text, args...)
	if err != nil {
		return nil, err
	}
	var keys []int64
	for thoughts := 0; rows.Next() && thoughts < sweepThoughts && len(keys) < sweepSessions; {
		var key int64
		var k sequent.Key
		var n int
		if err := rows.Scan(&key, &k.Owner, &k.ID, &n); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		keys, deleted, thoughts = append(keys, key), append(deleted, k), thoughts+n
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if err := w.remove(key); err != nil {
			return nil, err
		}
	}
	return deleted, nil
}

// selectSweep returns the statement that selects the sessions to delete. It can
// use an index on the time of expiry or update.
func selectSweep(q sequent.SweepQuery, limit int) (text string, args []any) {
	where := []string{"TRUE"}
	and := func(condition string, values ...any) {
		where = append(where, condition)
		args = append(args, values...)
	}
	if !q.AllOwners {
		and("owner = ?", q.Owner)
	}
	if !q.Expired.IsZero() {
		and("expires IS NOT NULL AND expires <= ?", record.Micros(q.Expired))
	}
	if !q.Before.IsZero() {
		before := record.Ceil(q.Before)
		and("period <= ? AND updated < ?", record.Period(before), before)
	}
	return "SELECT key, owner, id, len FROM tool_sessions WHERE " + strings.Join(where, " AND ") + " LIMIT ?", append(args, limit)
}

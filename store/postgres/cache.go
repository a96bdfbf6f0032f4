package postgres

import (
	"context"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A cache holds headers that this process stored recently. A header at an epoch and
// version never changes, so a write to a cached session needs to send only what
// differs; for most appends, three numbers.
type cache struct {
	mu   sync.Mutex
	rows map[sequent.Key]row
}

// A row is the committed row of a session.
type row struct {
	key    int64
	header sequent.Header
}

const maxCached = 4000

// moves returns the keys of the sessions if all are cached at the base of their
// write, and every write changes only the position and time within a period.
func (c *cache) moves(round []*sequent.Write) (keys []int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys = make([]int64, len(round))
	for i, w := range round {
		old, cached := c.rows[w.Header.Key]
		if !cached || w.Base.Version == 0 || old.header.Position() != w.Base || !record.OnlyMoved(&old.header, &w.Header) {
			return nil, false
		}
		keys[i] = old.key
	}
	return keys, true
}

// update adds the writes that were stored, and removes the sessions of the others.
// The keys are those that [Store.store] returned.
func (c *cache) update(round []*sequent.Write, keys []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil || len(c.rows)+len(round) > maxCached {
		c.rows = make(map[sequent.Key]row)
	}
	for i, w := range round {
		if keys[i] != 0 {
			c.rows[w.Header.Key] = row{keys[i], w.Header}
		} else {
			delete(c.rows, w.Header.Key)
		}
	}
}

// storeMoves is storePlain for writes that [cache.moves] accepts. The redundant
// condition s.key = ANY ($3) prevents a plan, made while the table was small, that
// reads all sessions.
const storeMoves = `
	WITH moved AS (
		UPDATE tool_sessions s SET version = w.version, len = w.len, updated = w.updated
		FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
			WITH ORDINALITY AS w (key, epoch, base_version, version, len, updated, n)
		WHERE s.key = ANY ($3) AND s.key = w.key AND s.epoch = w.epoch AND s.version = w.base_version
		RETURNING s.key, w.n
	), added AS (
		INSERT INTO thoughts (session, seq, number, total, after, at, more, text)
		SELECT moved.key, t.seq, t.number, t.total, t.after, t.at, t.more, t.text
		FROM unnest($9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[],
			$15::boolean[], $16::text[]) AS t (n, seq, number, total, after, at, more, text)
		JOIN moved ON moved.n = t.n
	)
	SELECT coalesce(array_agg(n), '{}'), coalesce(array_agg(key), '{}'),
		CASE WHEN count(*) > 0 THEN pg_notify($1, $2)::text END
	FROM moved`

// moveArgs returns the columns of the sessions for storeMoves.
func moveArgs(round []*sequent.Write, keys []int64) []any {
	numbers := make([][]int64, 5) // epoch, base version, version, len, updated
	for i := range numbers {
		numbers[i] = make([]int64, len(round))
	}
	for i, w := range round {
		for c, v := range [...]int64{
			w.Base.Epoch, int64(w.Base.Version), int64(w.Header.Version), int64(w.Header.Len), record.Micros(w.Header.Updated),
		} {
			numbers[c][i] = v
		}
	}
	return append([]any{keys}, columns(numbers)...)
}

// commit stores one round in its own transaction. It reports for each write whether
// its session was at its base and it was stored.
func (s *Store) commit(ctx context.Context, round []*sequent.Write) ([]bool, error) {
	keys, err := s.store(ctx, s.pool, round)
	if err != nil {
		return nil, err
	}
	s.cache.update(round, keys)
	return nonZero(keys), nil
}

func nonZero(keys []int64) []bool {
	result := make([]bool, len(keys))
	for i, key := range keys {
		result[i] = key != 0
	}
	return result
}

package postgres

import (
	"context"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// known are the headers that this process stored last. A header at an epoch and
// version never changes, so of a session that is still there only what differs
// needs to be sent; for most appends, three numbers.
type known struct {
	mu   sync.Mutex
	rows map[sequent.Key]row
}

// A row is a session in the database, as it was committed.
type row struct {
	key    int64
	header sequent.Header
}

// maxKnown bounds known.
const maxKnown = 4000

// moves returns the keys of the sessions if all writes only move theirs on.
func (k *known) moves(round []*sequent.Write) (keys []int64, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys = make([]int64, len(round))
	for i, w := range round {
		was, there := k.rows[w.Header.Key]
		if !there || w.Base.Version == 0 || was.header.Position() != w.Base || !record.OnlyMoved(&was.header, &w.Header) {
			return nil, false
		}
		keys[i] = was.key
	}
	return keys, true
}

// learn takes in what was committed, and forgets the others.
func (k *known) learn(round []*sequent.Write, keys []int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil || len(k.rows)+len(round) > maxKnown {
		k.rows = make(map[sequent.Key]row)
	}
	for i, w := range round {
		if keys[i] != 0 {
			k.rows[w.Header.Key] = row{keys[i], w.Header}
		} else {
			delete(k.rows, w.Header.Key)
		}
	}
}

// storeMoves is storePlain for sessions that are known and only move on. The
// list of keys, said twice, keeps a plan that was made for a small table from
// reading all sessions of a large one.
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

// moveArgs returns the columns of sessions that only move on.
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

// commit stores writes of different sessions in a transaction of their own, and
// reports of each whether its session was at its base.
func (s *Store) commit(ctx context.Context, round []*sequent.Write) ([]bool, error) {
	keys, err := s.store(ctx, s.pool, round)
	if err != nil {
		return nil, err
	}
	s.known.learn(round, keys)
	return made(keys), nil
}

// made reports which writes were made: those whose session has a key.
func made(keys []int64) []bool {
	stored := make([]bool, len(keys))
	for i, key := range keys {
		stored[i] = key != 0
	}
	return stored
}

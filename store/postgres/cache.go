package postgres

import (
	"context"
	"strconv"
	"strings"
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
	located
	header sequent.Header
}

// A located is the key and the place of a row. The zero located is that of a write that
// was not stored.
type located struct {
	key   int64
	place string // its ctid, at which an update finds it however many dead versions it has
}

const maxCached = 4000

// moves returns the rows of the sessions if all are cached at the base of their
// write, and every write changes only the position and time within a period.
func (c *cache) moves(round []*sequent.Write) (rows []located, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows = make([]located, len(round))
	for i, w := range round {
		old, cached := c.rows[w.Header.Key]
		if !cached || w.Base.Version == 0 || old.header.Position() != w.Base || !record.OnlyMoved(&old.header, &w.Header) {
			return nil, false
		}
		rows[i] = old.located
	}
	return rows, true
}

// update adds the writes that were stored, and removes the sessions of the others.
// The rows are those that [Store.store] returned.
func (c *cache) update(round []*sequent.Write, rows []located) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil || len(c.rows)+len(round) > maxCached {
		c.rows = make(map[sequent.Key]row)
	}
	for i, w := range round {
		if rows[i].key != 0 {
			c.rows[w.Header.Key] = row{rows[i], w.Header}
		} else {
			delete(c.rows, w.Header.Key)
		}
	}
}

// storeMoves returns storePlain for writes that [cache.moves] accepts, for a server of a
// version.
//
// It finds the rows by their places. By key it would read all their versions, and while a
// transaction is open somewhere on the server, no version is removed. It reads the whole
// page of a place, because the server removes old versions from a page that is read so,
// but not from one of which a single row is read. Without that, every row would move to
// another page, with new entries in all indexes, after some twenty appends.
func storeMoves(version int) string {
	found := "s.ctid >= w.page::tid AND s.ctid < w.next_page::tid"
	if version < 140000 { // which would read the whole table
		found = "s.ctid = w.place::tid"
	}
	return moveText + found + moveRest
}

const moveText = `
	WITH free AS (
		SELECT s.place, w.version, w.len, w.updated, w.entries, w.head, w.bytes, w.n
		FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
				$10::bytea[], $11::bytea[], $12::bigint[], $24::text[], $25::text[], $26::text[])
			WITH ORDINALITY AS w (key, epoch, base_version, version, len, updated, entries, head, base_head, bytes, place, page, next_page, n)
		CROSS JOIN LATERAL (
			SELECT s.ctid AS place FROM tool_sessions s
			WHERE `

const moveRest = ` AND s.key = w.key AND s.epoch = w.epoch AND s.version = w.base_version
				AND s.head = w.base_head AND ` + mayWrite + `
			FOR NO KEY UPDATE OF s SKIP LOCKED
		) s
	), moved AS (
		UPDATE tool_sessions s SET version = w.version, len = w.len, updated = w.updated, entries = w.entries, head = w.head,
			bytes = w.bytes
		FROM free w WHERE s.ctid = w.place
		RETURNING s.key, s.ctid AS place, w.n
	), added AS (
		INSERT INTO thoughts (tx, session, seq, number, total, after, at, place, more, text, salt, hash)
		SELECT ` + currentTx + `, moved.key, t.seq, t.number, t.total, t.after, t.at, t.place, t.more, t.text, t.salt, t.hash
		FROM unnest($13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[],
			$20::boolean[], $21::text[], $22::bytea[], $23::bytea[])
			AS t (n, seq, number, total, after, at, place, more, text, salt, hash)
		JOIN moved ON moved.n = t.n
	)
	SELECT coalesce(array_agg(n), '{}'), coalesce(array_agg(key), '{}'), coalesce(array_agg(place::text), '{}'),
		CASE WHEN count(*) > 0 THEN pg_notify($1, $2)::text END
	FROM moved`

// moveArgs returns the columns of the sessions for storeMoves.
func moveArgs(round []*sequent.Write, rows []located) []any {
	keys := make([]int64, len(round))
	numbers := make([][]int64, 6) // epoch, base version, version, len, updated, entries
	for i := range numbers {
		numbers[i] = make([]int64, len(round))
	}
	bytes := make([]int64, len(round))
	heads := [][][]byte{make([][]byte, len(round)), make([][]byte, len(round))} // head, base head
	for i, w := range round {
		keys[i] = rows[i].key
		for c, v := range [...]int64{
			w.Base.Epoch, int64(w.Base.Version), int64(w.Header.Version), int64(w.Header.Len), record.Micros(w.Header.Updated),
			int64(w.Header.Entries),
		} {
			numbers[c][i] = v
		}
		heads[0][i], heads[1][i] = record.Hash(&w.Header.Head), record.Hash(&w.Base.Head)
		bytes[i] = w.Header.Bytes
	}
	return append(append(append([]any{keys}, columns(numbers)...), columns(heads)...), bytes)
}

// commit stores one round in its own transaction. It reports for each write whether
// it was stored: its session was at its base and not locked.
func (s *Store) commit(ctx context.Context, round []*sequent.Write) ([]bool, error) {
	rows, err := s.store(ctx, s.commits, round)
	if err != nil {
		return nil, err
	}
	s.cache.update(round, rows)
	return stored(rows), nil
}

// placeArgs returns the places of rows, the beginnings of the pages that they are in, and
// those of the pages after these.
func placeArgs(rows []located) []any {
	all := make([][]string, 3)
	for i := range all {
		all[i] = make([]string, len(rows))
	}
	for i, r := range rows {
		page, _, _ := strings.Cut(strings.TrimPrefix(r.place, "("), ",")
		n, _ := strconv.ParseUint(page, 10, 32) // what the server calls a place is one
		all[0][i], all[1][i], all[2][i] = r.place, "("+page+",0)", "("+strconv.FormatUint(n+1, 10)+",0)"
	}
	return columns(all)
}

// stored reports which writes were stored.
func stored(rows []located) []bool {
	result := make([]bool, len(rows))
	for i, r := range rows {
		result[i] = r.key != 0
	}
	return result
}

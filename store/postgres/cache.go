package postgres

import (
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A cache holds headers that this process stored recently. A header at an epoch and
// version never changes, so a write to a cached session that only moves it needs
// to send its thoughts.
type cache struct {
	mu   sync.Mutex
	off  bool // no write is a move; for tests
	rows map[sequent.Key]row
}

// A row is the committed row of a session.
type row struct {
	located
	header sequent.Header
}

// A located tells where the row of a session is. The zero located is that of a write that
// was not stored.
type located struct {
	key     int64
	place   string // its ctid, at which a statement finds it however many dead versions it has
	version int    // in the row, which is not changed by moves
}

const maxCached = 4000

// moves returns the rows of the sessions if all are cached at the base of their
// write, and every write is a move: it adds only thoughts, and changes only the position and
// time within a period, which then are those of its last thought.
func (c *cache) moves(round []*sequent.Write) (rows []located, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return nil, false
	}
	rows = make([]located, len(round))
	for i, w := range round {
		old, cached := c.rows[w.Header.Key]
		if !cached || w.Base.Version == 0 || old.header.Position() != w.Base || !record.OnlyMoved(&old.header, &w.Header) || !endsInThought(w) {
			return nil, false
		}
		rows[i] = old.located
	}
	return rows, true
}

// endsInThought reports whether a write adds only thoughts, and position and time of the
// header are those of the last one.
func endsInThought(w *sequent.Write) bool {
	if len(w.Entries) == 0 || record.Others(w.Entries) > 0 {
		return false
	}
	h, last := &w.Header, &w.Entries[len(w.Entries)-1]
	return last.Thought.Seq == h.Len && last.Place == h.Entries && last.Hash == h.Head &&
		record.Micros(last.Thought.At) == record.Micros(h.Updated)
}

// forget removes the sessions of writes.
func (c *cache) forget(round []*sequent.Write) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range round {
		delete(c.rows, w.Header.Key)
	}
}

// update adds the writes that were stored, with their rows, and removes the sessions of the
// others.
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

// lockMoved is the beginning of a statement. It selects and locks the sessions of moves that
// are at their bases and not locked, if a condition holds. A move changes no row, so that
// there are no old versions of it. Two moves from one base add a thought with the same number,
// which only one can. All other changes update the row, with another version.
func lockMoved(condition string) string {
	return `
	WITH stored AS (
		SELECT s.key, s.ctid AS place, w.n
		FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[])
			WITH ORDINALITY AS w (key, place, version, epoch, base_version, base_len, base_head, n)
		JOIN schema.tool_sessions s ON s.ctid = w.place::tid
		WHERE s.key = w.key AND s.epoch = w.epoch AND s.version = w.version AND ` + condition + `
			AND CASE WHEN w.base_version = w.version THEN s.head = w.base_head ELSE EXISTS (
				SELECT FROM schema.thoughts t WHERE t.session = w.key AND t.seq = w.base_len
					AND t.version = w.base_version AND t.hash = w.base_head
			) END
		FOR NO KEY UPDATE OF s SKIP LOCKED
	)`
}

// movedColumns selects the columns of stored that scanMoved reads.
const movedColumns = `
	SELECT coalesce(array_agg(n), '{}'), coalesce(array_agg(key), '{}'), coalesce(array_agg(place::text), '{}')`

// firstMoved is the parameter after those of lockMoved.
const firstMoved = 8

// queueMove adds the statement to a batch that stores the moves of a piece, with the rows
// that [cache.moves] returned, and sets its rows. The statement fails with an error that
// isTaken reports if another process has added a thought to one of the sessions.
func (p *piece) queueMove(b *pgx.Batch, rows []located) {
	args := append(moveArgs(p.writes, rows), plainArgs(p.writes, true)...)
	text := movePlain
	if !allPlain(p.writes) {
		text, args = moveAll, append(args, optionalArgs(p.writes)...)
	}
	p.rows = make([]located, len(p.writes))
	b.Queue(p.part.sql(text), args...).QueryRow(func(row pgx.Row) error { return p.scanMoved(row, rows) })
}

// scanMoved sets the rows of a piece from a row with the movedColumns, and more.
func (p *piece) scanMoved(row pgx.Row, cached []located, more ...any) error {
	var numbers, keys []int64
	var places []string
	err := row.Scan(append([]any{&numbers, &keys, &places}, more...)...)
	for i, n := range numbers {
		p.rows[n-1] = located{key: keys[i], place: places[i], version: cached[n-1].version}
	}
	return err
}

// moveArgs returns the columns of the sessions for lockMoved.
func moveArgs(round []*sequent.Write, rows []located) []any {
	n := len(round)
	places, heads := make([]string, n), make([][]byte, n)
	numbers := make([][]int64, 5) // key, version, epoch, base version, base len
	for i := range numbers {
		numbers[i] = make([]int64, n)
	}
	for i, w := range round {
		for c, v := range [...]int64{
			rows[i].key, int64(rows[i].version), w.Base.Epoch, int64(w.Base.Version), int64(w.Base.Len),
		} {
			numbers[c][i] = v
		}
		places[i], heads[i] = rows[i].place, record.Hash(&w.Base.Head)
	}
	return append(append([]any{numbers[0], places}, columns(numbers[1:])...), heads)
}

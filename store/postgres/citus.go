package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sequent-dev/sequent"
)

// On a distributed database, a move is a statement that locks the sessions, and one that adds
// the thoughts and needs nothing else. The coordinator and the worker plan a statement that
// does both, with values of tables, anew each time, which takes longer.

var (
	// lockMoves returns, after the movedColumns, the transaction id for thoughts.tx, and ids
	// for as many thoughts as the last parameter says. In the second statement they would be
	// those of the coordinator.
	lockMoves = lockMoved(mayWrite+" AND "+inOrder) + movedColumns + fmt.Sprintf(`, %s::text,
		(SELECT array_agg(nextval(pg_get_serial_sequence($%d, 'id'))) FROM generate_series(1, $%d)) FROM stored`,
		currentTx, firstMoved, firstMoved+1)

	addPlain = addStatement(plainColumns, plainTypes)
	addAll   = addStatement(allColumns, allTypes)
)

// addStatement returns a statement that adds thoughts with these columns. The parameters are
// their transaction id, and for each its id, the key of its session, and the columns.
func addStatement(columns, types []string) string {
	return `
		INSERT INTO schema.thoughts (tx, id, session, ` + strings.Join(columns, ", ") + `) OVERRIDING SYSTEM VALUE
		SELECT $1::xid8, * FROM unnest(` + arrays(2, append([]string{"bigint", "bigint"}, types...)) + `)`
}

// holdsLocks reports whether the transaction has locked the sessions with these keys where
// they are now: Citus may have moved them to another worker after a statement that locked
// them, but not after one that added rows.
const holdsLocks = `SELECT count(*) = cardinality($1::bigint[]) FROM schema.tool_sessions s WHERE s.key = ANY ($1) AND age(s.xmax) = 0`

// sendMove stores the moves of a piece like send, with the rows that [cache.moves] returned.
func (s *Store) sendMove(ctx context.Context, conn *pgxpool.Conn, p *piece, cached []located) error {
	p.rows = make([]located, len(p.writes))
	var tx string
	var ids []int64
	b := new(pgx.Batch)
	b.Queue("BEGIN")
	b.Queue(p.part.sql(lockMoves), append(moveArgs(p.writes, cached), p.part.table("thoughts"), count(p.writes))...).
		QueryRow(func(row pgx.Row) error { return p.scanMoved(row, cached, &tx, &ids) })
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return notCommitted{err}
	}
	var stored []*sequent.Write
	var locked, sessions []int64 // keys of the sessions, and of the session of each thought
	for i, w := range p.writes {
		if key := p.rows[i].key; key != 0 {
			stored, locked = append(stored, w), append(locked, key)
			sessions = append(sessions, slices.Repeat([]int64{key}, len(w.Entries))...)
		}
	}
	if stored == nil {
		_, err := conn.Exec(ctx, "ROLLBACK")
		return err
	}
	text, args := addPlain, append([]any{tx, ids[:len(sessions)], sessions}, plainArgs(stored, true)[1:]...)
	if !allPlain(stored) {
		text, args = addAll, append(args, optionalArgs(stored)...)
	}
	var held bool
	b = new(pgx.Batch)
	b.Queue(p.part.sql(text), args...)
	b.Queue(p.part.sql(holdsLocks), locked).QueryRow(func(row pgx.Row) error { return row.Scan(&held) })
	s.queueNotify(b, []*piece{p})
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return notCommitted{err}
	}
	if !held {
		return movedError{p.part}
	}
	if _, err := conn.Exec(ctx, "COMMIT"); err != nil {
		return err
	}
	return commitLost(conn.Conn())
}

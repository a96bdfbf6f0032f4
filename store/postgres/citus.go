package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// On a distributed database, a move is two statements in two round trips: one that locks the
// sessions, and one that adds the thoughts and needs nothing else. The coordinator and the
// worker plan a statement with values of tables anew each time, which takes longer.

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
	arrays := []string{"$2::bigint[]", "$3::bigint[]"}
	for i, t := range types {
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", 4+i, t))
	}
	return `
		INSERT INTO schema.thoughts (tx, id, session, ` + strings.Join(columns, ", ") + `) OVERRIDING SYSTEM VALUE
		SELECT $1::xid8, * FROM unnest(` + strings.Join(arrays, ", ") + `)`
}

// beginMove begins a transaction that stores the moves of a piece, with the rows that
// [cache.moves] returned. It locks the sessions, sets the rows of the piece and adds the
// statement to the batch that adds the thoughts to those that are stored.
func (p *piece) beginMove(ctx context.Context, conn sender, b *pgx.Batch, cached []located) error {
	p.rows = make([]located, len(p.writes))
	var tx string
	var ids []int64
	first := new(pgx.Batch)
	first.Queue("BEGIN")
	first.Queue(p.part.sql(lockMoves), append(moveArgs(p.writes, cached), p.part.table("thoughts"), count(p.writes))...).
		QueryRow(func(row pgx.Row) error { return p.scanMoved(row, cached, &tx, &ids) })
	if err := conn.SendBatch(ctx, first).Close(); err != nil {
		return notCommitted{err}
	}
	var stored []*sequent.Write
	var keys []int64 // of the session of each thought
	for i, w := range p.writes {
		if p.rows[i].key != 0 {
			stored = append(stored, w)
			keys = append(keys, slices.Repeat([]int64{p.rows[i].key}, len(w.Entries))...)
		}
	}
	if stored == nil {
		return nil
	}
	text, args := addPlain, append([]any{tx, ids[:len(keys)], keys}, plainArgs(stored, true)[1:]...)
	if !allPlain(stored) {
		text, args = addAll, append(args, optionalArgs(stored)...)
	}
	b.Queue(p.part.sql(text), args...)
	return nil
}

package postgres

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
	"github.com/sequent-dev/sequent/textsearch"
)

// Columns, with examples of their values.
var (
	sessionColumns = strings.Split(sqlstore.PositionColumns+", "+sqlstore.RestColumns, ", ")
	entryColumns   = strings.Split(sqlstore.EntryColumns+", words", ", ")
	exampleRow     = append([]any{int64(0), "", "", int64(0), int64(0), []byte{}}, sessionValues(new(sequent.Header))...)
	exampleEntry   = append([]any{int64(0)}, entryValues(new(sequent.Entry))...)
)

func sessionValues(h *sequent.Header) []any {
	return append(sqlstore.PositionValues(h), sqlstore.RestValues(h)...)
}

func entryValues(e *sequent.Entry) []any {
	var words *string // NULL: too many, or none
	if e.Kind == sequent.KindThought {
		if vector, ok := textsearch.TSVector(e.Thought.Text, e.Thought.Note); ok {
			words = &vector
		}
	}
	return append(sqlstore.EntryValues(e), words)
}

// Statements.
const (
	lock       = " FOR NO KEY UPDATE"
	skipLocked = lock + " SKIP LOCKED"
	notify     = "SELECT pg_notify($1, $2)"
)

// The parameters of the first two are part, owner and id, the position if the session exists, and
// its columns; those of the third part, key and the columns of the log.
var (
	updateSession = `
		UPDATE tool_sessions SET (` + join(sessionColumns, "") + `) = (` + parameters(7, len(sessionColumns)) + `)
		WHERE part = $1 AND owner || '' = $2 AND id = $3 AND epoch = $4 AND version = $5 AND head = $6 RETURNING key`
	insertSession = `
		INSERT INTO tool_sessions (part, owner, id, ` + join(sessionColumns, "") + `) VALUES (` + parameters(1, 3+len(sessionColumns)) + `)
		ON CONFLICT (part, owner, id) DO NOTHING RETURNING key`
	insertEntry = `
		INSERT INTO tool_log (part, session, ` + join(entryColumns, "") + `) VALUES (` + parameters(1, 2+len(entryColumns)) + `)`

	// Statements for batches that begin no sessions, and for others.
	changeBatch = batchStatement("stored AS (SELECT * FROM changed)")
	storeBatch  = batchStatement(`begun AS (
			INSERT INTO tool_sessions (part, owner, id, ` + join(sessionColumns, "") + `)
			SELECT part, owner, id, ` + join(sessionColumns, "") + ` FROM w WHERE base_version = 0 ORDER BY part
			ON CONFLICT (part, owner, id) DO NOTHING RETURNING part, owner, id, key
		), stored AS (
			SELECT * FROM changed UNION ALL SELECT part, key, write FROM begun JOIN w USING (part, owner, id)
		)`)
)

// An owner that is not the bare column keeps PostgreSQL from the indexes of owners, which look as
// good in a table without statistics.

// batchStatement returns a statement that gets the columns of all writes as arrays, and then those
// of all entries.
func batchStatement(stored string) string {
	return `
		WITH w AS (
			SELECT * FROM unnest(` + arrayParameters(1, exampleRow) + `) WITH ORDINALITY
				AS w (part, owner, id, base_epoch, base_version, base_head, ` + join(sessionColumns, "") + `, write)
		), locked AS (
			SELECT s.place, w.* FROM w, LATERAL ( -- a look into the index for each
				SELECT ctid AS place FROM tool_sessions s WHERE s.part = w.part AND s.owner || '' = w.owner AND s.id = w.id
					AND s.epoch = w.base_epoch AND s.version = w.base_version AND s.head = w.base_head
				FOR NO KEY UPDATE SKIP LOCKED
			) s
		), changed AS (
			UPDATE tool_sessions s SET (` + join(sessionColumns, "") + `) = ROW (` + join(sessionColumns, "l.") + `)
			FROM locked l WHERE s.ctid = l.place RETURNING s.part, s.key, l.write
		), ` + stored + `, logged AS (
			INSERT INTO tool_log (part, session, ` + join(entryColumns, "") + `)
			SELECT s.part, s.key, ` + join(entryColumns[:len(entryColumns)-1], "e.") + `, e.words::tsvector
			FROM unnest(` + arrayParameters(len(exampleRow)+1, exampleEntry) + `) WITH ORDINALITY AS e (write, ` + join(entryColumns, "") + `, position)
			JOIN stored s ON s.write = e.write ORDER BY e.position
		)
		SELECT write, pg_notify(` + parameters(len(exampleRow)+len(exampleEntry)+1, 2) + `) FROM stored`
}

func join(columns []string, prefix string) string {
	return prefix + strings.Join(columns, ", "+prefix)
}

// parameters returns $first, $first+1, ….
func parameters(first, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(all, ", ")
}

// arrayParameters returns parameters that are arrays of the types of an example.
func arrayParameters(first int, example []any) string {
	all := make([]string, len(example))
	for i, v := range example {
		name := map[string]string{"int64": "bigint", "[]uint8": "bytea", "bool": "boolean"}[fmt.Sprintf("%T", v)]
		all[i] = fmt.Sprintf("$%d::%s[]", first+i, cmp.Or(name, "text"))
	}
	return strings.Join(all, ", ")
}

// columns returns the columns of rows, for such parameters.
func columns(example []any, rows [][]any) []any {
	all := make([]any, len(example))
	for i := range all {
		column := make([]any, len(rows))
		for n, row := range rows {
			column[n] = row[i]
		}
		all[i] = column
	}
	return all
}

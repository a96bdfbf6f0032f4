package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The search index has marks that are transaction ids, see [Store.runIndexer]. Those of
// another server say nothing. So index_state has the server that the marks are of, and
// each connection checks it before its first use.

const (
	selectServer = `
		SELECT (SELECT system_identifier::text FROM pg_control_system()) <> server AND NOT pg_is_in_recovery()
		FROM index_state`
	// adoptState lets the ids of transactions grow from the greatest of a thought on.
	adoptState = `
		UPDATE index_state SET server = (SELECT system_identifier::text FROM pg_control_system()),
			shift = greatest((SELECT coalesce(max(tx)::text::bigint, 0) FROM thoughts) + 1 - pg_current_xact_id()::text::bigint, 0)`
	// adoptWriter keeps programs from writing that do not know of a shift.
	adoptWriter = `
		UPDATE sequent_schema SET oldest_writer = greatest(oldest_writer, 6) WHERE (SELECT shift FROM index_state) > 0`
	// adoptSequences makes sequences follow the rows: logical replication does not copy
	// them.
	adoptSequences = `
		SELECT setval(name, last) FROM (
			SELECT pg_get_serial_sequence('thoughts', 'id') AS name, (SELECT max(id) FROM thoughts) AS last
			UNION ALL SELECT pg_get_serial_sequence('tool_sessions', 'key'), (SELECT max(key) FROM tool_sessions)
		) s WHERE last > coalesce(pg_sequence_last_value(name::regclass), 0)`
	// selectMisfit reports whether the index lacks thoughts up to its mark, or has others.
	selectMisfit = `
		SELECT EXISTS (SELECT FROM thoughts t LEFT JOIN thought_words w ON w.id = t.id, index_state i
				WHERE (t.tx, t.id) <= (i.tx, i.id) AND w.id IS NULL OR (t.tx, t.id) > (i.tx, i.id) AND w.id IS NOT NULL)
			OR (SELECT count(*) FROM thought_words) <> (SELECT docs FROM index_state)`
	clearWords = `DELETE FROM thought_words`
	clearState = `UPDATE index_state SET tx = '0', id = 0, docs = 0, tokens = 0`

	// currentTx is the transaction id for thoughts.tx.
	currentTx = `(SELECT (pg_current_xact_id()::text::bigint + shift)::text::xid8 FROM index_state)`
	// oldestTx is the oldest one that may still be running.
	oldestTx = `(SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift)::text::xid8 FROM index_state)`
)

// checkServer makes the store one of the server of conn, if it was moved from another.
func checkServer(ctx context.Context, conn *pgx.Conn) error {
	var moved bool
	err := conn.QueryRow(ctx, selectServer).Scan(&moved)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "42P01", "42703": // no table or column: the schema is not migrated yet
			return nil
		case "42501": // the user may not read the identifier
			return nil
		}
	}
	if isNoRows(err) || err == nil && !moved {
		return nil
	}
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return adopt(ctx, tx) })
}

// adopt makes the store one of the server of tx. It binds the marks of the index to it,
// clears the index if it does not fit the thoughts, and corrects sequences. Writers
// wait.
func adopt(ctx context.Context, tx pgx.Tx) error {
	// Comparing the whole index with the thoughts needs time, but not often.
	for _, text := range []string{
		"SET LOCAL statement_timeout = 0", "SET LOCAL lock_timeout = 0", "SET LOCAL enable_seqscan = on",
		lockIndex, "LOCK TABLE thoughts IN SHARE ROW EXCLUSIVE MODE",
	} {
		if _, err := tx.Exec(ctx, text); err != nil {
			return err
		}
	}
	var moved, misfit bool
	if err := tx.QueryRow(ctx, selectServer).Scan(&moved); err != nil || !moved {
		return err // another process has done it
	}
	if err := tx.QueryRow(ctx, selectMisfit).Scan(&misfit); err != nil {
		return err
	}
	statements := []string{adoptSequences, adoptState, adoptWriter}
	if misfit {
		statements = append(statements, clearWords, clearState)
	}
	for _, text := range statements {
		if _, err := tx.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

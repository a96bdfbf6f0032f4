package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The search index has marks that are transaction ids, see [Store.runIndexer]. Those of
// another server say nothing. So index_state has the server that the marks are of, and
// each connection checks it before its first use.

const (
	// selectServer returns the server of the tables, and whether it is another than before.
	selectServer = `
		SELECT c.system_identifier::text, c.system_identifier::text <> i.server AND NOT pg_is_in_recovery()
		FROM schema.index_state i, pg_control_system() c`
	// inOrder is false if the ids of transactions are lower than the marks. So is a part that
	// a distributed database has moved to another server while connections go on.
	inOrder = `(SELECT pg_current_xact_id()::text::bigint + shift > tx::text::bigint FROM schema.index_state)`
	isCitus = `EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus')`
	// selectShift returns what lets the ids of transactions grow from the greatest of a
	// thought or mark on. A distributed database would compute it in an UPDATE at its coordinator.
	selectShift = `
		SELECT greatest(greatest((SELECT max(tx) FROM schema.thoughts), tx)::text::bigint + 1 - pg_current_xact_id()::text::bigint, 0)
		FROM schema.index_state`
	selectMoved = `SELECT server <> $1 AND $1 <> '' OR NOT ` + inOrder + ` FROM schema.index_state`
	adoptState  = `UPDATE schema.index_state SET server = CASE WHEN $1 = '' THEN server ELSE $1 END, shift = $2`
	// adoptWriter keeps programs from writing that do not know of a shift.
	adoptWriter = `
		UPDATE schema.sequent_schema SET oldest_writer = greatest(oldest_writer, 6) WHERE (SELECT shift FROM schema.index_state) > 0`
	// adoptSequences makes sequences follow the rows: logical replication does not copy
	// them. Each worker of Citus has a range of its own, which ends with the first number of
	// the next worker's, and rows that were moved have numbers of other workers.
	adoptSequences = `
		SELECT setval(name, last) FROM (
			SELECT name, CASE column_name
				WHEN 'id' THEN (SELECT max(id) FROM schema.thoughts WHERE id >= r.minimum_value AND id < r.maximum_value)
				ELSE (SELECT max(key) FROM schema.tool_sessions WHERE key >= r.minimum_value AND key < r.maximum_value) END AS last
			FROM (VALUES (pg_get_serial_sequence($1, 'id'), 'id'), (pg_get_serial_sequence($2, 'key'), 'key')) s (name, column_name),
				pg_sequence_parameters(name::regclass) r
		) s WHERE last > coalesce(pg_sequence_last_value(name::regclass), 0)`
	// selectMisfit reports whether the index lacks thoughts up to its mark, or has others.
	selectMisfit = `
		SELECT EXISTS (SELECT FROM schema.thoughts t LEFT JOIN schema.thought_words w ON w.id = t.id, schema.index_state i
				WHERE (t.tx, t.id) <= (i.tx, i.id) AND w.id IS NULL OR (t.tx, t.id) > (i.tx, i.id) AND w.id IS NOT NULL)
			OR (SELECT count(*) FROM schema.thought_words) <> (SELECT docs FROM schema.index_state)`
	clearWords = `DELETE FROM schema.thought_words`
	clearState = `UPDATE schema.index_state SET tx = '0', id = 0, docs = 0, tokens = 0`

	// currentTx is the transaction id for thoughts.tx.
	currentTx = `(SELECT (pg_current_xact_id()::text::bigint + shift)::text::xid8 FROM schema.index_state)`
	// oldestTx is the oldest one that may still be running.
	oldestTx = `(SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift)::text::xid8 FROM schema.index_state)`
)

// checkServer makes the part one of the server of conn, if it was moved from another.
func (p *part) checkServer(ctx context.Context, conn *pgx.Conn) error {
	server, moved, err := p.server(ctx, conn)
	if err != nil || !moved {
		return err
	}
	return p.adopt(ctx, conn, server)
}

// server returns the identifier of the server that has the tables, "" if the user may not
// read it or there is no store, and whether it is not the one that the store knows.
func (p *part) server(ctx context.Context, db queryer) (identifier string, moved bool, err error) {
	err = db.QueryRow(ctx, p.sql(selectServer)).Scan(&identifier, &moved)
	if cannotTell(err) || isNoRows(err) {
		return "", false, nil
	}
	return identifier, moved, err
}

// movedError means that a part is on another server than before, and may have to be adopted.
type movedError struct{ part *part }

// Error describes the error.
func (e movedError) Error() string {
	return "the tables of " + e.part.name + " were moved to another server"
}

// adopt makes a part one of the server that has its tables now.
func (s *Store) adopt(ctx context.Context, p *part) (err error) {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	server, _, err := p.server(ctx, conn)
	if err != nil {
		return err
	}
	return p.adopt(ctx, conn, server)
}

// cannotTell reports whether err means that the server of the index is not known.
func cannotTell(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{
		"42P01", "42703", // no table or column: the schema is not migrated yet
		"42501", // the user may not read the identifier
	}, e.Code)
}

const (
	// adoptWait is how long adopt waits for a lock, while others wait behind it. Citus does
	// not find a deadlock with a move, which waits for older transactions of the worker.
	adoptWait = 500 * time.Millisecond
	// adoptPause is how long it lets go of all locks then.
	adoptPause = 200 * time.Millisecond
	// adoptTime is for how long it tries, which is longer than most moves take.
	adoptTime = 30 * time.Second
)

// adopt makes the part one of a server. It binds the marks of the index to it, clears the
// index if it does not fit the thoughts, and corrects sequences. Writers wait.
func (p *part) adopt(ctx context.Context, conn *pgx.Conn, server string) error {
	for deadline := time.Now().Add(adoptTime); ; {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return p.adoptIn(ctx, tx, server) })
		if !isLocked(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(adoptPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *part) adoptIn(ctx context.Context, tx pgx.Tx, server string) error {
	// Comparing the whole index with the thoughts needs time, but not often.
	for _, text := range []string{
		"SET LOCAL statement_timeout = 0", fmt.Sprintf("SET LOCAL lock_timeout = %d", adoptWait.Milliseconds()),
		"SET LOCAL enable_seqscan = on", lockIndex, "LOCK TABLE schema.thoughts IN SHARE ROW EXCLUSIVE MODE",
	} {
		if _, err := tx.Exec(ctx, p.sql(text)); err != nil {
			return err
		}
	}
	var moved, misfit bool
	if err := tx.QueryRow(ctx, p.sql(selectMoved), server).Scan(&moved); err != nil || !moved {
		return err // another process has done it
	}
	if err := tx.QueryRow(ctx, p.sql(selectMisfit)).Scan(&misfit); err != nil {
		return err
	}
	var shift int64
	if err := tx.QueryRow(ctx, p.sql(selectShift)).Scan(&shift); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, p.sql(adoptState), server, shift); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, p.sql(adoptSequences), p.table("thoughts"), p.table("tool_sessions")); err != nil {
		return err
	}
	statements := []string{adoptWriter}
	if misfit {
		statements = append(statements, clearWords, clearState)
	}
	for _, text := range statements {
		if _, err := tx.Exec(ctx, p.sql(text)); err != nil {
			return err
		}
	}
	return nil
}

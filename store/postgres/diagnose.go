package postgres

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// minVersion is the oldest version of PostgreSQL that the store is tested with.
const minVersion = 15_00_00

// Diagnose checks the database at address for problems. It changes nothing.
func Diagnose(ctx context.Context, address string) []diagnosis.Finding {
	var r diagnosis.Report
	diagnose(ctx, address, &r)
	return r.Findings
}

func diagnose(ctx context.Context, address string, r *diagnosis.Report) {
	fail := func(check string, err error) {
		e, _ := errors.AsType[*sequent.Error](wrap(ctx, err))
		r.Error(check, e)
	}
	config, err := parse(Config{URL: address})
	if err != nil {
		fail("address", err)
		return
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		fail("server", err)
		return
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only reads
	var version, encoding, commit string
	var number int
	var standby bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('server_version'), current_setting('server_version_num')::integer,
			current_setting('server_encoding'), current_setting('synchronous_commit'), pg_is_in_recovery()`,
	).Scan(&version, &number, &encoding, &commit, &standby); err != nil {
		fail("server", err)
		return
	}
	switch {
	case number < minVersion:
		r.Warn("server", "use PostgreSQL 15 or newer", "PostgreSQL %s, which the store is not tested with", version)
	case standby:
		r.Fail("server", "use the address of the primary", "PostgreSQL %s, a standby: nothing can be stored", version)
	default:
		r.OK("server", "PostgreSQL %s", version)
	}
	if encoding != "UTF8" {
		r.Fail("encoding", "create a database with the encoding UTF8", "%s, which cannot represent all texts", encoding)
	} else {
		r.OK("encoding", "%s", encoding)
	}
	if commit == "off" {
		r.Warn("durability", "SET synchronous_commit = on", "synchronous_commit is off: a crash of the server may lose the latest thoughts")
	} else {
		r.OK("durability", "synchronous_commit is %s", commit)
	}
	if err := diagnoseSettings(ctx, conn, r); err != nil {
		fail("settings", err)
		return
	}
	switch format, err := schemaVersion(ctx, conn); {
	case err != nil:
		fail("format", err)
	case format == 0:
		r.OK("format", "no tables; they are created at the first start or by sequent migrate")
	case format < latest:
		r.OK("format", "format %d, migrated to %d at the next start or by sequent migrate", format, latest)
	default:
		r.OK("format", "format %d", format)
		if err := diagnoseTables(ctx, conn, r); err != nil {
			fail("tables", err)
			return
		}
		if err := diagnoseSearch(ctx, conn, address, r); err != nil {
			fail("search", err)
		}
	}
}

// diagnoseSettings checks connections, timeouts and privileges.
func diagnoseSettings(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	const perProcess = 10 // a pool of 8, the listener, and one while starting
	var limit, used int
	var statement, idle string
	var mayCreate, mayIdentify bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
			current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
			coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE),
			has_function_privilege('pg_control_system()', 'EXECUTE')`,
	).Scan(&limit, &used, &statement, &idle, &mayCreate, &mayIdentify); err != nil {
		return err
	}
	if limit-used < perProcess {
		r.Warn("connections", "raise max_connections, or start fewer processes",
			"%d of %d are in use; each serving process uses up to %d", used, limit, perProcess)
	} else {
		r.OK("connections", "%d of %d are in use; each serving process uses up to %d", used, limit, perProcess)
	}
	if statement == "0" || idle == "0" {
		r.Warn("time-outs", "remove statement_timeout and idle_in_transaction_session_timeout from the address, or set them to more than 0",
			"statement_timeout is %s and idle_in_transaction_session_timeout is %s: a hanging statement or process can block others without limit", statement, idle)
	} else {
		r.OK("time-outs", "%s for a statement, %s for an idle transaction", statement, idle)
	}
	if !mayCreate {
		r.Warn("rights", "GRANT CREATE ON SCHEMA … TO this user, or run sequent migrate as a user with this privilege",
			"this user may not create tables, so the store cannot be created or migrated")
	}
	if !mayIdentify { // see checkServer
		r.Warn("server identity", "GRANT EXECUTE ON FUNCTION pg_control_system() TO this user",
			"this user may not call pg_control_system(), so processes do not notice that the store was moved from another server; then searches miss new thoughts")
	} else {
		r.OK("server identity", "known; a move from another server is noticed")
	}
	return nil
}

// diagnoseTables checks the privileges on the tables and the backlog of the index,
// for a store of the latest format.
func diagnoseTables(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	const maxCounted = 100_000
	var mayWrite bool
	var behind int
	if err := conn.QueryRow(ctx, `
		SELECT bool_and(has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT')
			AND has_table_privilege(t, 'UPDATE') AND has_table_privilege(t, 'DELETE')),
			(SELECT count(*) FROM (
				SELECT FROM thoughts, index_state s WHERE (thoughts.tx, thoughts.id) > (s.tx, s.id) LIMIT $1
			) AS missing)
		FROM unnest(ARRAY['tool_sessions', 'thoughts', 'thought_words', 'index_state']) AS t`, maxCounted,
	).Scan(&mayWrite, &behind); err != nil {
		return err
	}
	if !mayWrite {
		r.Fail("tables", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO this user",
			"this user may not read and write all tables")
	} else {
		r.OK("tables", "readable and writable")
	}
	switch {
	case behind == 0:
		r.OK("search index", "complete")
	case behind < maxCounted:
		r.OK("search index", "%d thoughts are not indexed yet; searches read them instead", behind)
	default:
		r.Warn("search index", "check that a serving process is running: it updates the index",
			"%d thoughts or more are not indexed, which slows searches down", maxCounted)
	}
	return nil
}

// diagnoseSearch checks the search index against the thoughts, and that searches find
// what is stored.
func diagnoseSearch(ctx context.Context, conn *pgx.Conn, address string, r *diagnosis.Report) error {
	const fix = "run TRUNCATE thought_words; UPDATE index_state SET tx = '0', id = 0, docs = 0, tokens = 0; " +
		"a serving process makes the index again"
	const maxCounted = 1000
	var missing int
	err := conn.QueryRow(ctx, `
		SELECT count(*) FROM (
			SELECT FROM thoughts t, index_state s
			WHERE (t.tx, t.id) <= (s.tx, s.id) AND NOT EXISTS (SELECT FROM thought_words w WHERE w.id = t.id) LIMIT $1
		) AS missing`, maxCounted).Scan(&missing)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "57014" {
		r.Warn("search index", "set statement_timeout in the address to a longer time", "comparing it with the thoughts took too long")
		err = nil
	}
	if err != nil {
		return err
	}
	if missing > 0 {
		r.Fail("search index", fix, "%d thoughts or more are not indexed and are not found, though later ones are indexed", missing)
	}
	s, err := open(ctx, Config{URL: address, Connections: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it only reads
	return r.Sample(ctx, s, fix)
}

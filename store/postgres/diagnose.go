package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// A Finding is the result of one check of [Diagnose].
type Finding struct {
	Check  string // name of the check
	Status string // ok, warn or fail
	Detail string // what was found
	Fix    string // what to do
}

// minVersion is the oldest version of PostgreSQL that the store is tested with.
const minVersion = 15_00_00

// Diagnose checks the database at address for problems. It changes nothing.
func Diagnose(ctx context.Context, address string) (all []Finding) {
	add := func(check, status, fix, format string, args ...any) {
		all = append(all, Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Fix: fix})
	}
	fail := func(check string, err error) {
		e, _ := errors.AsType[*sequent.Error](wrap(ctx, err))
		detail := e.Msg
		if e.Err != nil {
			detail += " (" + e.Err.Error() + ")"
		}
		add(check, "fail", e.Fix, "%s", detail)
	}
	config, err := parse(Config{URL: address})
	if err != nil {
		fail("address", err)
		return all
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		fail("server", err)
		return all
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
		return all
	}
	switch {
	case number < minVersion:
		add("server", "warn", "use PostgreSQL 15 or newer", "PostgreSQL %s, which the store is not tested with", version)
	case standby:
		add("server", "fail", "use the address of the primary", "PostgreSQL %s, a standby: nothing can be stored", version)
	default:
		add("server", "ok", "", "PostgreSQL %s", version)
	}
	if encoding != "UTF8" {
		add("encoding", "fail", "create a database with the encoding UTF8", "%s, which cannot represent all texts", encoding)
	} else {
		add("encoding", "ok", "", "%s", encoding)
	}
	if commit == "off" {
		add("durability", "warn", "SET synchronous_commit = on", "synchronous_commit is off: a crash of the server may lose the latest thoughts")
	} else {
		add("durability", "ok", "", "synchronous_commit is %s", commit)
	}
	if err := diagnoseSettings(ctx, conn, add); err != nil {
		fail("settings", err)
		return all
	}
	switch format, err := schemaVersion(ctx, conn); {
	case err != nil:
		fail("format", err)
	case format == 0:
		add("format", "ok", "", "no tables; they are created at the first start or by sequent migrate")
	case format < latest:
		add("format", "ok", "", "format %d, migrated to %d at the next start or by sequent migrate", format, latest)
	default:
		add("format", "ok", "", "format %d", format)
		if err := diagnoseTables(ctx, conn, add); err != nil {
			fail("tables", err)
		}
	}
	return all
}

// An adder adds a finding.
type adder = func(check, status, fix, format string, args ...any)

// diagnoseSettings checks connections, timeouts and privileges.
func diagnoseSettings(ctx context.Context, conn *pgx.Conn, add adder) error {
	const perProcess = 10 // a pool of 8, the listener, and one while starting
	var limit, used int
	var statement, idle string
	var mayCreate bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
			current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
			coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE)`,
	).Scan(&limit, &used, &statement, &idle, &mayCreate); err != nil {
		return err
	}
	if limit-used < perProcess {
		add("connections", "warn", "raise max_connections, or start fewer processes",
			"%d of %d are in use; each serving process uses up to %d", used, limit, perProcess)
	} else {
		add("connections", "ok", "", "%d of %d are in use; each serving process uses up to %d", used, limit, perProcess)
	}
	if statement == "0" || idle == "0" {
		add("time-outs", "warn", "remove statement_timeout and idle_in_transaction_session_timeout from the address, or set them to more than 0",
			"statement_timeout is %s and idle_in_transaction_session_timeout is %s: a hanging statement or process can block others without limit", statement, idle)
	} else {
		add("time-outs", "ok", "", "%s for a statement, %s for an idle transaction", statement, idle)
	}
	if !mayCreate {
		add("rights", "warn", "GRANT CREATE ON SCHEMA … TO this user, or run sequent migrate as a user with this privilege",
			"this user may not create tables, so the store cannot be created or migrated")
	}
	return nil
}

// diagnoseTables checks the privileges on the tables and the backlog of the index,
// for a store of the latest format.
func diagnoseTables(ctx context.Context, conn *pgx.Conn, add adder) error {
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
		add("tables", "fail", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO this user",
			"this user may not read and write all tables")
	} else {
		add("tables", "ok", "", "readable and writable")
	}
	switch {
	case behind == 0:
		add("search index", "ok", "", "complete")
	case behind < maxCounted:
		add("search index", "ok", "", "%d thoughts are not indexed yet; searches read them instead", behind)
	default:
		add("search index", "warn", "check that a serving process is running: it updates the index",
			"%d thoughts or more are not indexed, which slows searches down", maxCounted)
	}
	return nil
}

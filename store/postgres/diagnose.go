package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// A Finding is what one check of [Diagnose] found.
type Finding struct {
	Check  string // what was looked at, in a word or two
	Status string // ok, warn or fail
	Detail string // what was found and what it means
	Fix    string // what to do about it
}

// oldest is the first version of PostgreSQL that the store is tested with.
const oldest = 15_00_00

// Diagnose looks at the database that an address names for anything that would
// keep the store from working. It changes nothing.
func Diagnose(ctx context.Context, address string) (all []Finding) {
	add := func(check, status, fix, format string, args ...any) {
		all = append(all, Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Fix: fix})
	}
	broken := func(check string, err error) {
		e, _ := errors.AsType[*sequent.Error](wrap(ctx, err))
		detail := e.Msg
		if e.Err != nil {
			detail += " (" + e.Err.Error() + ")"
		}
		add(check, "fail", e.Fix, "%s", detail)
	}
	config, err := parse(Config{URL: address})
	if err != nil {
		broken("address", err)
		return all
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		broken("server", err)
		return all
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only looked
	var version, encoding, durable string
	var number int
	var standby bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('server_version'), current_setting('server_version_num')::integer,
			current_setting('server_encoding'), current_setting('synchronous_commit'), pg_is_in_recovery()`,
	).Scan(&version, &number, &encoding, &durable, &standby); err != nil {
		broken("server", err)
		return all
	}
	switch {
	case number < oldest:
		add("server", "warn", "use PostgreSQL 15 or newer", "PostgreSQL %s, which the store is not tested with", version)
	case standby:
		add("server", "fail", "name the primary", "PostgreSQL %s, a standby: nothing can be stored", version)
	default:
		add("server", "ok", "", "PostgreSQL %s", version)
	}
	if encoding != "UTF8" {
		add("encoding", "fail", "create a database with the encoding UTF8", "%s, which cannot hold every text", encoding)
	} else {
		add("encoding", "ok", "", "%s", encoding)
	}
	if durable == "off" {
		add("durability", "warn", "SET synchronous_commit = on", "synchronous_commit is off: a crash of the server may cost the latest thoughts")
	} else {
		add("durability", "ok", "", "synchronous_commit is %s", durable)
	}
	if err := diagnoseSettings(ctx, conn, add); err != nil {
		broken("settings", err)
		return all
	}
	switch format, err := schemaVersion(ctx, conn); {
	case err != nil:
		broken("format", err)
	case format == 0:
		add("format", "ok", "", "nothing is there yet; it is made at the first start, or by sequent migrate")
	case format < latest:
		add("format", "ok", "", "format %d, which is brought to %d at the next start, or by sequent migrate", format, latest)
	default:
		add("format", "ok", "", "format %d", format)
		if err := diagnoseTables(ctx, conn, add); err != nil {
			broken("tables", err)
		}
	}
	return all
}

// A note adds a finding.
type note = func(check, status, fix, format string, args ...any)

// diagnoseSettings looks at what the server grants a connection.
func diagnoseSettings(ctx context.Context, conn *pgx.Conn, add note) error {
	const own = 10 // connections of a process: 8, one that listens, one to spare
	var most, used int
	var statement, idle string
	var mayCreate bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
			current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
			coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE)`,
	).Scan(&most, &used, &statement, &idle, &mayCreate); err != nil {
		return err
	}
	if most-used < own {
		add("connections", "warn", "raise max_connections, or start fewer processes",
			"%d of %d are in use, and each process that serves takes up to %d", used, most, own)
	} else {
		add("connections", "ok", "", "%d of %d are in use; each process that serves takes up to %d", used, most, own)
	}
	if statement == "0" || idle == "0" {
		add("time-outs", "warn", "leave statement_timeout and idle_in_transaction_session_timeout out of the address, or set them to more than 0",
			"statement_timeout is %s and idle_in_transaction_session_timeout %s: what hangs holds up others for ever", statement, idle)
	} else {
		add("time-outs", "ok", "", "%s a statement, %s in a transaction that does nothing", statement, idle)
	}
	if !mayCreate {
		add("rights", "warn", "GRANT CREATE ON SCHEMA … TO this user, or run sequent migrate as one who has it",
			"this user may not create tables: the store cannot be made or brought to a newer format")
	}
	return nil
}

// diagnoseTables looks at a store of the latest format.
func diagnoseTables(ctx context.Context, conn *pgx.Conn, add note) error {
	const many = 100_000
	var mayWrite bool
	var behind int
	if err := conn.QueryRow(ctx, `
		SELECT bool_and(has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT')
			AND has_table_privilege(t, 'UPDATE') AND has_table_privilege(t, 'DELETE')),
			(SELECT count(*) FROM (
				SELECT FROM thoughts, index_state s WHERE (thoughts.tx, thoughts.id) > (s.tx, s.id) LIMIT $1
			) AS missing)
		FROM unnest(ARRAY['tool_sessions', 'thoughts', 'thought_words', 'index_state']) AS t`, many,
	).Scan(&mayWrite, &behind); err != nil {
		return err
	}
	if !mayWrite {
		add("tables", "fail", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO this user",
			"this user may not read and write all of them")
	} else {
		add("tables", "ok", "", "they can be read and written")
	}
	switch {
	case behind == 0:
		add("search index", "ok", "", "it has every thought")
	case behind < many:
		add("search index", "ok", "", "%d thoughts behind; searches read those instead", behind)
	default:
		add("search index", "warn", "see that a process that serves is running: it brings the index up to date",
			"%d thoughts behind or more, which slows searches down", many)
	}
	return nil
}

package postgres

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// minVersion is the oldest version of PostgreSQL that the store is tested with.
const minVersion = 15_00_00

// Diagnose checks the database at an address for problems. It changes nothing.
func Diagnose(ctx context.Context, address string) []diagnosis.Finding {
	var r diagnosis.Report
	if check, err := diagnose(ctx, address, &r); err != nil {
		e, _ := errors.AsType[*sequent.Error](wrap(ctx, err))
		r.Error(check, e)
	}
	return r.Findings
}

// diagnose returns the check that failed, and why.
func diagnose(ctx context.Context, address string, r *diagnosis.Report) (check string, err error) {
	config, _, err := parse(Config{URL: address})
	if err != nil {
		return "address", err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return "server", err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only reads
	if err := diagnoseServer(ctx, conn, r); err != nil {
		return "server", err
	}
	if err := diagnoseDurability(ctx, conn, r); err != nil {
		return "durability", err
	}
	p, err := find(ctx, conn)
	switch {
	case err != nil:
		return "format", err
	case !p.has:
		r.OK("format", "no tables; they are created at the first start")
		return "", nil
	}
	r.OK("format", "%s", p.comment)
	s, err := Open(ctx, Config{URL: address, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "tables", err
	}
	defer s.Close() //nolint:errcheck // it only reads
	return "search", r.Sample(ctx, s, "REINDEX TABLE tool_log")
}

// diagnoseServer checks the version, connections and privileges.
func diagnoseServer(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	const perProcess = 10 // 8 for calls, the listener, and one while starting
	var version string
	var number, limit, used int
	var standby, mayCreate, mayWrite bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('server_version'), current_setting('server_version_num')::integer, pg_is_in_recovery(),
			current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
			coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE),
			(SELECT coalesce(bool_and(has_table_privilege(t, p)), FALSE)
				FROM unnest(ARRAY[to_regclass('tool_sessions'), to_regclass('tool_log'), to_regclass('tool_values')]) t,
					unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p)`,
	).Scan(&version, &number, &standby, &limit, &used, &mayCreate, &mayWrite); err != nil {
		return err
	}
	switch {
	case number < minVersion:
		r.Warn("server", "use PostgreSQL 15 or newer", "PostgreSQL %s, which the store is not tested with", version)
	case standby:
		r.Fail("server", "use the address of the primary", "PostgreSQL %s, a standby: nothing can be stored", version)
	default:
		r.OK("server", "PostgreSQL %s", version)
	}
	if limit-used < perProcess {
		r.Warn("connections", "raise max_connections, or start fewer processes",
			"%d of %d are in use; each serving process uses up to %d", used, limit, perProcess)
	} else {
		r.OK("connections", "%d of %d are in use; each serving process uses up to %d", used, limit, perProcess)
	}
	switch {
	case mayWrite:
		r.OK("tables", "readable and writable")
	case !mayCreate:
		r.Fail("rights", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO this user, or GRANT CREATE ON SCHEMA … for the first start",
			"this user may neither create the tables nor read and write all of them")
	}
	return nil
}

// diagnoseDurability checks what a crash or a fail-over would lose.
func diagnoseDurability(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	const check = "durability"
	var names, commit string
	var connected, hidden, waited int
	// A user without the role pg_read_all_stats sees that there are standbys, and not more.
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('synchronous_standby_names'), current_setting('synchronous_commit'),
			count(r.pid), count(r.pid) FILTER (WHERE r.sync_state IS NULL), count(r.pid) FILTER (WHERE r.sync_state IN ('sync', 'quorum'))
		FROM (SELECT) one LEFT JOIN pg_stat_replication r ON TRUE`,
	).Scan(&names, &commit, &connected, &hidden, &waited); err != nil {
		return err
	}
	switch {
	case commit == "off" || commit == "local" && names != "":
		r.Warn(check, "SET synchronous_commit = on", "synchronous_commit is %s: a crash or a fail-over may lose the latest thoughts", commit)
	case names == "" && connected > 0:
		r.Warn(check, "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (NAME, …)' on the primary, and reload (docs/scaling.md)",
			"commits do not wait for the connected standbys (%d): a fail-over may lose the latest thoughts", connected)
	case names != "" && waited == 0 && hidden == 0:
		r.Warn(check, "start the standby, or set synchronous_standby_names to '' and reload until it is back",
			"commits wait for %s, and none of them is connected: nothing can be stored", names)
	case names != "":
		r.OK(check, "commits wait for %s", names)
	default:
		r.OK(check, "synchronous_commit is %s", commit)
	}
	return nil
}

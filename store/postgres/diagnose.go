package postgres

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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
	if err := diagnoseStandbys(ctx, conn, severalServers(&config.Config), r); err != nil {
		return "standbys", err
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
	if p.isDistributed() {
		if err := diagnoseNodes(ctx, conn, r); err != nil {
			return "nodes", err
		}
	}
	s, err := Open(ctx, Config{URL: address, Connections: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "tables", err
	}
	defer s.Close() //nolint:errcheck // it only reads
	return "search", r.Sample(ctx, s, "REINDEX TABLE tool_log")
}

// diagnoseServer checks the version, durability, connections, time-outs and privileges.
func diagnoseServer(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	const perProcess = 10 // 8 for calls, the listener, and one while starting
	var version, commit, statement, idle string
	var number, limit, used int
	var standby, mayCreate, mayWrite bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('server_version'), current_setting('server_version_num')::integer, pg_is_in_recovery(),
			current_setting('synchronous_commit'), current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
			current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
			coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE),
			(SELECT coalesce(bool_and(has_table_privilege(t, p)), FALSE)
				FROM unnest(ARRAY[to_regclass('tool_sessions'), to_regclass('tool_log'), to_regclass('tool_values')]) t,
					unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p)`,
	).Scan(&version, &number, &standby, &commit, &statement, &idle, &limit, &used, &mayCreate, &mayWrite); err != nil {
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
	if commit == "off" {
		r.Warn("durability", "SET synchronous_commit = on", "synchronous_commit is off: a crash of the server may lose the latest thoughts")
	} else {
		r.OK("durability", "synchronous_commit is %s", commit)
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
	switch {
	case mayWrite:
		r.OK("tables", "readable and writable")
	case mayCreate:
	default:
		r.Fail("rights", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO this user, or GRANT CREATE ON SCHEMA … for the first start",
			"this user may neither create the tables nor read and write all of them")
	}
	return nil
}

// diagnoseStandbys checks that a fail-over would lose nothing, if the server has standbys or
// should have them: commits wait for them, or expected is true, because the address has more
// than one server.
func diagnoseStandbys(ctx context.Context, conn *pgx.Conn, expected bool, r *diagnosis.Report) error {
	const check, fix = "standbys", "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (NAME, …)' on the primary, and reload (docs/scaling.md)"
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
	case names == "" && connected == 0 && expected:
		r.Warn(check, fix, "the address has several servers, but no standby is connected to this one: a fail-over would lose thoughts")
	case names == "" && connected > 0:
		r.Warn(check, fix, "commits do not wait for the connected standbys (%d): a fail-over may lose the latest thoughts", connected)
	case names == "":
	case waited == 0 && hidden == 0:
		r.Warn(check, "start the standby, or set synchronous_standby_names to '' and reload until it is back",
			"commits wait for %s, and none of them is connected: nothing can be stored", names)
	case commit == "local" || commit == "off":
		r.Warn(check, "SET synchronous_commit = on", "synchronous_commit is %s, so commits do not wait for %s: a fail-over may lose the latest thoughts", commit, names)
	default:
		r.OK(check, "commits wait for %s", names)
	}
	return nil
}

// severalServers reports whether an address has more than one server. The driver's
// fallbacks are also the same server without TLS.
func severalServers(config *pgconn.Config) bool {
	for _, f := range config.Fallbacks {
		if f.Host != config.Host || f.Port != config.Port {
			return true
		}
	}
	return false
}

// diagnoseNodes shows where Citus has the sessions.
func diagnoseNodes(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	rows, err := conn.Query(ctx, `
		SELECT n.nodename, n.nodeport, n.isactive, count(s.shardid), coalesce(sum(s.shard_size), 0)::bigint
		FROM pg_dist_node n LEFT JOIN citus_shards s ON s.nodename = n.nodename AND s.nodeport = n.nodeport
			AND s.table_name IN ('tool_sessions'::regclass, 'tool_log'::regclass)
		WHERE n.noderole = 'primary' AND n.shouldhaveshards GROUP BY 1, 2, 3 ORDER BY 1, 2`)
	if err != nil {
		return err
	}
	var name string
	var port, shards int
	var active bool
	var size int64
	_, err = pgx.ForEachRow(rows, []any{&name, &port, &active, &shards, &size}, func() error {
		node := net.JoinHostPort(name, strconv.Itoa(port))
		if active {
			r.OK("node", "%s has %d shards with %.1f MB", node, shards, float64(size)/1e6)
		} else {
			r.Warn("node", "SELECT citus_activate_node at the coordinator", "%s, with %d shards, is not active", node, shards)
		}
		return nil
	})
	return err
}

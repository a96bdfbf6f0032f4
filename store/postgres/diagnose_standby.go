package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// diagnoseStandbys checks that a fail-over would lose nothing, if the server has standbys or
// should have them: commits wait for them, or expected is true, because the address has more
// than one server.
func diagnoseStandbys(ctx context.Context, conn *pgx.Conn, expected bool, r *diagnosis.Report) error {
	const check, fix = "standbys", "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (NAME, …)' on the primary, and reload (docs/failover.md)"
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

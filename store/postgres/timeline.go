package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// selectTimeline returns the identity of a server and its timeline, which each promotion
// of a standby increments. The timeline of a standby is NULL.
const selectTimeline = `
	SELECT system_identifier, CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END
	FROM pg_control_system()`

// timelines keeps a process away from a primary that has been replaced. Such a server
// accepts writes if it is started again, and lacks what was stored since. It can be the
// first one in the address.
type timelines struct {
	mu     sync.Mutex
	system string // identity of the server that was used last
	latest string // its timeline, in hexadecimal digits
}

// validate returns a check of new connections that first calls check, unless it is nil.
// A connection that it refuses makes the driver try the next server of the address.
func (t *timelines) validate(check pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if check != nil {
			if err := check(ctx, conn); err != nil {
				return err
			}
		}
		results, err := conn.Exec(ctx, selectTimeline).ReadAll()
		if _, ok := errors.AsType[*pgconn.PgError](err); ok {
			return nil // a user without the right to ask, or an engine without timelines
		}
		if err != nil {
			return err
		}
		if len(results) != 1 || len(results[0].Rows) != 1 || results[0].Rows[0][1] == nil {
			return nil
		}
		return t.use(string(results[0].Rows[0][0]), string(results[0].Rows[0][1]))
	}
}

// use records the timeline of a server, or returns an error if a later one was used.
func (t *timelines) use(system, timeline string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if system == t.system && timeline < t.latest {
		return fmt.Errorf("the server is on timeline %s, and this process has used %s: the server was the primary before a failover; "+
			"make it a standby with pg_rewind, or restart this process to use it", timeline, t.latest)
	}
	t.system, t.latest = system, timeline
	return nil
}

//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// Replicated starts a server, with lines for its postgresql.conf, and a standby that replays what
// it commits. The address leads to a new schema on whichever of them accepts writes.
func Replicated(t testing.TB, settings string) (primary, standby *Server, address string) {
	t.Helper()
	primary, standby = &Server{settings: settings}, new(Server)
	t.Cleanup(func() {
		if err := errors.Join(primary.Stop(), standby.Stop()); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(primary.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	standby.create(t)
	err = errors.Join(
		standby.run("pg_basebackup", "-h", primary.dir, "-U", "postgres", "-D", standby.data(), "-X", "stream", "-c", "fast", "--no-sync"),
		appendFile(filepath.Join(standby.data(), "postgresql.auto.conf"), fmt.Sprintf("\nprimary_conninfo = 'host=%s user=postgres'\n", primary.dir)),
		os.WriteFile(filepath.Join(standby.data(), "standby.signal"), nil, 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	standby.Start(t)
	await(t, standby.URL("public"), "SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')::text")
	return primary, standby, primary.URL(u.Query().Get("search_path"), standby)
}

// set changes a setting of the running server.
func (s *Server) set(t testing.TB, setting string) {
	t.Helper()
	value(t, s.URL("public"), "ALTER SYSTEM SET "+setting)
	value(t, s.URL("public"), "SELECT pg_reload_conf()::text")
}

// Synchronous makes a primary wait with each commit until a standby has it, too.
func (s *Server) Synchronous(t testing.TB) {
	t.Helper()
	s.set(t, "synchronous_standby_names = '*'")
	await(t, s.URL("public"), "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')::text")
}

// StopReceiving makes a standby lag behind its primary from now on: it waits until the
// standby has what the primary has committed, and ends the replication.
func (s *Server) StopReceiving(t testing.TB, primary *Server) {
	t.Helper()
	end := value(t, primary.URL("public"), "SELECT pg_current_wal_lsn()::text")
	await(t, s.URL("public"), "SELECT (pg_last_wal_replay_lsn() >= $1::text::pg_lsn)::text", end)
	s.set(t, "primary_conninfo = ''")
	await(t, s.URL("public"), "SELECT (NOT EXISTS (SELECT FROM pg_stat_wal_receiver))::text")
}

// Promote makes a standby a server that accepts writes. Its primary should have ended.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	if value(t, s.URL("public"), "SELECT pg_promote(true, 30)::text") != "true" {
		t.Fatal("the standby was not promoted within 30 s")
	}
}

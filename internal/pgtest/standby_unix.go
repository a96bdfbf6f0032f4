//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// catchUpTime limits how long the tests wait for another server.
const catchUpTime = 30 * time.Second

// Replicated starts a server, with lines for its postgresql.conf, and a standby of it. The address
// leads to a new schema on whichever of them accepts writes.
func Replicated(t testing.TB, settings string) (primary, standby *Server, address string) {
	t.Helper()
	primary, standby = &Server{Settings: settings}, new(Server)
	t.Cleanup(func() {
		if err := errors.Join(primary.Stop(), standby.Stop()); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(primary.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	standby.Clone(t, primary)
	standby.Follow(t, primary)
	return primary, standby, primary.URL(u.Query().Get("search_path"), standby)
}

// Clone makes s, which must be new, a physical copy of a running server: what
// pg_basebackup copies. It does not start s.
func (s *Server) Clone(t testing.TB, from *Server) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bin = from.bin; s.dir != "" {
		t.Fatal("pgtest: Clone of a server that is not new")
	}
	if err := s.makeDir(); err != nil {
		t.Fatal(err)
	}
	backup := s.client(t, "pg_basebackup", "-h", from.dir, "-U", "postgres", "-D", s.data(), "-X", "stream", "-c", "fast", "--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
}

// Follow makes s, a [Server.Clone] of primary, a standby of it and starts it: by
// streaming replication, s replays what primary commits.
func (s *Server) Follow(t testing.TB, primary *Server) {
	t.Helper()
	s.configure(t, "standby.signal", fmt.Sprintf("primary_conninfo = 'host=%s user=postgres'", primary.dir))
	s.Start(t)
	s.await(t, "streaming replication has begun", "SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')")
}

// Synchronous makes a primary wait with each commit until a standby has it, too.
func (s *Server) Synchronous(t testing.TB) {
	t.Helper()
	s.value(t, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	s.value(t, "SELECT pg_reload_conf()::text")
	s.await(t, "replication is synchronous", "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
}

// CatchUp waits until a standby shows what its primary has committed.
func (s *Server) CatchUp(t testing.TB, primary *Server) {
	t.Helper()
	end := primary.value(t, "SELECT pg_current_wal_lsn()::text")
	s.await(t, "the standby has caught up", "SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn", end)
}

// StopReceiving makes a standby lag behind its primary from now on: it waits until the
// standby has what the primary has committed, and ends the replication.
func (s *Server) StopReceiving(t testing.TB, primary *Server) {
	t.Helper()
	s.CatchUp(t, primary)
	s.value(t, "ALTER SYSTEM SET primary_conninfo = ''")
	s.value(t, "SELECT pg_reload_conf()::text")
	s.await(t, "replication has ended", "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
}

// Promote makes a standby a server that accepts writes. Its primary should have ended.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	if s.value(t, "SELECT pg_promote(true, 30)::text") != "true" {
		t.Fatal("the standby was not promoted within 30 s")
	}
}

// Rewind makes s, which is stopped and was a primary, a copy of its promoted standby again:
// it discards what s alone has. Settings must include wal_log_hints and, unless s was shut
// down, wal_keep_size. It does not start s.
func (s *Server) Rewind(t testing.TB, to *Server) {
	t.Helper()
	to.value(t, "CHECKPOINT") // until then, pg_rewind before PostgreSQL 16 does not see the promotion
	s.mu.Lock()
	defer s.mu.Unlock()
	rewind := s.client(t, "pg_rewind", "-D", s.data(), "--source-server", "host="+to.dir+" user=postgres dbname=postgres", "--no-sync")
	if out, err := rewind.CombinedOutput(); err != nil {
		t.Fatalf("pg_rewind: %v\n%s", err, out)
	}
}

// URL returns the URL of a schema on s. With further servers it is that of the one that
// accepts writes.
func (s *Server) URL(schema string, others ...*Server) string {
	if len(others) == 0 {
		return s.url(schema)
	}
	var hosts strings.Builder
	hosts.WriteString(s.dir)
	for _, o := range others {
		hosts.WriteString("," + o.dir)
	}
	return address(url.Values{"host": {hosts.String()}, "search_path": {schema}, "target_session_attrs": {"read-write"}})
}

// configure adds settings and a file that says in which state the server starts.
func (s *Server) configure(t testing.TB, signal, settings string) {
	t.Helper()
	err := errors.Join(
		appendFile(filepath.Join(s.data(), "postgresql.auto.conf"), "\n"+settings+"\n"),
		os.WriteFile(filepath.Join(s.data(), signal), nil, 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
}

// value returns the result of a statement.
func (s *Server) value(t testing.TB, statement string, args ...any) (v string) {
	t.Helper()
	s.query(t, func(conn *pgx.Conn) (err error) {
		rows, err := conn.Query(t.Context(), statement, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			err = rows.Scan(&v)
		}
		return errors.Join(err, rows.Err())
	})
	return v
}

// await waits until a query returns true.
func (s *Server) await(t testing.TB, what, query string, args ...any) {
	t.Helper()
	s.query(t, func(conn *pgx.Conn) error {
		for deadline := time.Now().Add(catchUpTime); ; time.Sleep(20 * time.Millisecond) {
			var done bool
			if err := conn.QueryRow(t.Context(), query, args...).Scan(&done); err != nil || done {
				return err
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("waited for %v: %s\n%s", catchUpTime, what, s.log.String())
			}
		}
	})
}

func (s *Server) query(t testing.TB, f func(conn *pgx.Conn) error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url("public"))
	if err == nil {
		err = errors.Join(f(conn), conn.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// client returns a command of a program that connects to servers. Such programs look for
// others beside themselves.
func (s *Server) client(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := s.command(name, args...)
	cmd.Path = s.program(t, name)
	cmd.Args[0] = cmd.Path
	return cmd
}

// program returns the path of a program of PostgreSQL.
func (s *Server) program(t testing.TB, name string) string {
	t.Helper()
	if path := filepath.Join(s.bin, name); exec.Command(path, "--version").Run() == nil {
		return path
	}
	// The PATH can have links to some of the programs.
	if real, err := filepath.EvalSymlinks(filepath.Join(s.bin, "postgres")); err == nil {
		if path := filepath.Join(filepath.Dir(real), name); exec.Command(path, "--version").Run() == nil {
			return path
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		needtest.Missing(t, name+" is not installed", "install Debian's package postgresql-client")
	}
	return path
}

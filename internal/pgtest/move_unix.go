//go:build unix

package pgtest

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// Copy copies a schema to another server with pg_dump and psql, and returns its URL
// there. Options are further options of pg_dump.
func (s *Server) Copy(t testing.TB, from string, to *Server, options ...string) string {
	t.Helper()
	u, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	schema := u.Query().Get("search_path")
	to.Start(t)
	dump := s.command("pg_dump", append(options, "-h", s.dir, "-U", "postgres", "-n", schema, "postgres")...)
	dump.Path = s.program(t, "pg_dump")
	var script, log bytes.Buffer
	dump.Stdout, dump.Stderr = &script, &log
	if err := dump.Run(); err != nil {
		t.Fatalf("pg_dump: %v\n%s", err, &log)
	}
	psql := to.command("psql", "-q", "-h", to.dir, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "postgres")
	psql.Path = to.program(t, "psql")
	psql.Stdin = &script
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return to.url(schema)
}

// program returns the path of a program of PostgreSQL.
func (s *Server) program(t testing.TB, name string) string {
	t.Helper()
	if path := filepath.Join(s.bin, name); exec.Command(path, "--version").Run() == nil {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		needtest.Missing(t, name+" is not installed", "install Debian's package postgresql-client")
	}
	return path
}

// URL returns the URL of a schema that was copied to the server by replication.
func (s *Server) URL(schema string) string { return s.url(schema) }

// Save stops the server, keeps a copy of its data, and starts it again.
func (s *Server) Save(t testing.TB) {
	t.Helper()
	s.replaceData(t, syscall.SIGINT, func(saved string) error {
		return errors.Join(os.RemoveAll(saved), s.copyData(s.data(), saved))
	})
}

// Rewind ends the server like a crash, and starts it with the data of Save: what was
// committed since is lost, as after a failover to a standby that lagged behind, or a
// recovery to a point in time.
func (s *Server) Rewind(t testing.TB) {
	t.Helper()
	s.replaceData(t, syscall.SIGQUIT, func(saved string) error {
		return errors.Join(os.RemoveAll(s.data()), s.copyData(saved, s.data()))
	})
}

func (s *Server) replaceData(t testing.TB, sig syscall.Signal, replace func(saved string) error) {
	t.Helper()
	s.signal(t, sig)
	if err := replace(filepath.Join(s.dir, "saved")); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
}

func (s *Server) copyData(from, to string) error {
	cmd := exec.Command("cp", "-a", from, to)
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}

//go:build unix

package pgtest

import (
	"bytes"
	"net/url"
	"os/exec"
	"path/filepath"
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
	dump := s.client(t, "pg_dump", append(options, "-h", s.dir, "-U", "postgres", "-n", schema, "postgres")...)
	var script, log bytes.Buffer
	dump.Stdout, dump.Stderr = &script, &log
	if err := dump.Run(); err != nil {
		t.Fatalf("pg_dump: %v\n%s", err, &log)
	}
	psql := to.client(t, "psql", "-q", "-h", to.dir, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "postgres")
	psql.Stdin = &script
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return to.url(schema)
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

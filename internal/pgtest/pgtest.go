//go:build unix

// Package pgtest runs a private PostgreSQL server for tests: in a temporary
// directory, on a Unix socket, independent of the machine's own servers.
package pgtest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// A Server is a PostgreSQL server. The zero Server starts on first use. The
// caller must Stop it, in TestMain if several tests share it.
type Server struct {
	// Durable turns fsync on, so that commits survive a loss of power. Only
	// benchmarks need it: commits survive a kill of the server without it.
	Durable bool

	mu       sync.Mutex
	settings string // lines of postgresql.conf
	bin      string // directory of PostgreSQL's programs
	dir      string // parent of the data directory and the socket
	user     *syscall.Credential
	running  bool
	watchdog *exec.Cmd // stops the server if this process ends without doing so
	schemas  atomic.Int64
}

// Start starts the server, also again after Kill or Shutdown.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return
	}
	if s.dir == "" {
		s.create(t)
		settings := fmt.Sprintf("%s\nlisten_addresses = ''\nfsync = %t\nmax_connections = 300\nshared_buffers = 256MB\nunix_socket_permissions = 0777\n",
			s.settings, s.Durable)
		err := s.run("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
		if err = errors.Join(err, appendFile(filepath.Join(s.data(), "postgresql.conf"), settings)); err != nil {
			t.Fatalf("creating a database: %v", err)
		}
	}
	log := filepath.Join(s.dir, "log")
	if err := s.run("pg_ctl", "-D", s.data(), "-w", "-l", log, "-o", "-k "+s.dir, "start"); err != nil {
		text, _ := os.ReadFile(log)
		t.Fatalf("starting PostgreSQL: %v\n%s", err, text)
	}
	s.running = true
}

// create finds PostgreSQL, creates the server's directory and starts the watchdog. It waits for
// the end of this process, on a pipe that the kernel then closes.
func (s *Server) create(t testing.TB) {
	t.Helper()
	if s.bin = programs(); s.bin == "" {
		needtest.Missing(t, "PostgreSQL is not installed", "install Debian's package postgresql, or put initdb and postgres into the PATH")
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		if s.user, err = unprivileged(); err == nil {
			err = os.Chown(s.dir, int(s.user.Uid), int(s.user.Gid))
		}
	}
	s.watchdog = watchdog(`kill -QUIT $(head -n 1 "$0/data/postmaster.pid"); sleep 1; rm -rf "$0"`, s.dir)
	if _, failed := s.watchdog.StdinPipe(); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if err := s.watchdog.Start(); err != nil {
		t.Fatal(err)
	}
}

// watchdog returns a shell that runs a script when this process has ended. A signal to this
// process's group does not reach it.
func watchdog(script string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", "read -r _; " + script}, args...)...)
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// programs returns the directory of PostgreSQL's programs: that of the first initdb in the PATH,
// else the newest version that Debian's packages have installed, else "".
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(all) == 0 {
		return ""
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(all, func(a, b string) int { return version(a) - version(b) }))
}

// unprivileged returns a user other than root for the server to run as.
func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
	}
	return nil, errors.New("PostgreSQL does not run as root, and the users postgres and nobody do not exist")
}

func appendFile(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// run runs a program of PostgreSQL as the server's user.
func (s *Server) run(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.user}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// URL returns the URL of a schema on the server. With further servers it is that of the one that
// accepts writes.
func (s *Server) URL(schema string, others ...*Server) string {
	q := url.Values{"host": {s.dir}, "search_path": {schema}, "sslmode": {"disable"}}
	for _, o := range others {
		q.Set("host", q.Get("host")+","+o.dir)
		q.Set("target_session_attrs", "read-write")
	}
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: q.Encode()}).String()
}

// Schema creates a schema for the caller alone and returns its URL. It starts the
// server if necessary.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	s.Start(t)
	name := fmt.Sprintf("test%d", s.schemas.Add(1))
	value(t, s.URL("public"), "CREATE SCHEMA "+name)
	return s.URL(name)
}

// value returns the result of a statement, a text, or "" if it has none.
func value(t testing.TB, address, statement string, args ...any) (v string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return strings.Join(all, " ")
}

// await waits until a query returns true.
func await(t testing.TB, address, query string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); value(t, address, query, args...) != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 30 s for %s", query)
		}
	}
}

// Kill stops the server like a crash (PostgreSQL's immediate shutdown).
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.stop(t, "immediate")
}

// Shutdown disconnects all clients and stops the server (PostgreSQL's fast
// shutdown).
func (s *Server) Shutdown(t testing.TB) {
	t.Helper()
	s.stop(t, "fast")
}

func (s *Server) stop(t testing.TB, mode string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.run("pg_ctl", "-D", s.data(), "-w", "-m", mode, "stop"); err != nil {
		t.Fatalf("stopping PostgreSQL: %v", err)
	}
	s.running = false
}

// Crash kills the server with SIGKILL. The processes of its connections end when they
// notice it. The server cannot be started again.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.running = false
}

// Stop stops the server, if it is running, and removes its directory. The next
// use starts it again with an empty database.
func (s *Server) Stop() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		err = s.run("pg_ctl", "-D", s.data(), "-w", "-m", "fast", "stop")
	}
	if s.watchdog != nil {
		err = errors.Join(err, s.watchdog.Process.Kill(), os.RemoveAll(s.dir))
		_ = s.watchdog.Wait() // always "signal: killed"
	}
	s.running, s.watchdog, s.dir = false, nil, ""
	return err
}

//go:build unix

// Package pgtest runs a PostgreSQL server of its own for tests: in a directory
// that is thrown away, on a Unix socket, with nothing of the machine's own
// servers.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
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

// A Server is a PostgreSQL server. The zero Server starts when it is first
// needed; whoever has one must Stop it, in TestMain if many tests share it.
type Server struct {
	// Durable makes commits survive a loss of power, for measuring; tests that
	// only kill the server do not need it and are quicker without.
	Durable bool

	mu      sync.Mutex
	bin     string // where the programs are
	dir     string // of data and socket
	who     *syscall.Credential
	process *exec.Cmd // nil while it does not run
	ended   chan error
	guard   *exec.Cmd // ends the server if this process does not come to it
	log     bytes.Buffer
	schemas atomic.Int64
}

// get says how a test gets what it misses.
const get = "install Debian's package postgresql, or put initdb and postgres into the PATH"

// start makes the directory, if there is none, and starts the server. The caller
// holds mu.
func (s *Server) start(t testing.TB) {
	t.Helper()
	if s.process != nil {
		return
	}
	if s.dir == "" {
		if s.bin = programs(); s.bin == "" {
			needtest.Missing(t, "PostgreSQL is not installed", get)
		}
		if err := s.init(); err != nil {
			t.Fatalf("a PostgreSQL server for the tests: %v", err)
		}
	}
	if err := s.run(); err != nil {
		t.Fatalf("a PostgreSQL server for the tests: %v\n%s", err, s.log.String())
	}
}

// programs returns the directory of the newest server that is installed.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if _, err := exec.LookPath("postgres"); err == nil {
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

func (s *Server) init() error {
	var err error
	if s.dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		return err
	}
	if os.Getuid() == 0 { // which the server refuses to run as
		if s.who, err = unprivileged(); err != nil {
			return err
		}
		if err := os.Chown(s.dir, int(s.who.Uid), int(s.who.Gid)); err != nil {
			return err
		}
	}
	out, err := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who}
	return cmd
}

func (s *Server) run() error {
	fsync := "off"
	if s.Durable {
		fsync = "on"
	}
	s.log.Reset()
	cmd := s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=",
		"-c", "fsync="+fsync, "-c", "max_connections=300", "-c", "shared_buffers=256MB", "-c", "unix_socket_permissions=0777")
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			return fmt.Errorf("the server ended: %w", errors.Join(err, errors.New(s.log.String())))
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		conn, err := pgx.Connect(ctx, s.url("public"))
		if err == nil {
			err = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			s.process, s.ended = cmd, ended
			return s.watch()
		}
	}
	err := cmd.Process.Kill()
	return errors.Join(errors.New("the server does not answer"), err, <-ended)
}

// watch starts a process that reads from a pipe which is closed when this process
// ends, however it ends, and then ends the server.
func (s *Server) watch() error {
	s.guard = exec.Command("sh", "-c", `read -r _; kill -QUIT "$0"; while kill -0 "$0" 2>/dev/null; do sleep 0.1; done; rm -rf "$1"`,
		strconv.Itoa(s.process.Process.Pid), s.dir)
	s.guard.Dir = "/"
	if _, err := s.guard.StdinPipe(); err != nil {
		return err
	}
	return s.guard.Start()
}

func (s *Server) url(schema string) string {
	q := url.Values{"host": {s.dir}, "search_path": {schema}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: q.Encode()}).String()
}

// Schema returns the URL of an empty schema, which no other test has.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start(t)
	name := fmt.Sprintf("test%d", s.schemas.Add(1))
	conn, err := pgx.Connect(t.Context(), s.url("public"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "CREATE SCHEMA "+name)
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	return s.url(name)
}

// Kill ends the server at once, as a crash would, with all connections.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.halt(t, syscall.SIGQUIT)
}

// Shut ends the server as an administrator would who does not wait for clients.
func (s *Server) Shut(t testing.TB) {
	t.Helper()
	s.halt(t, syscall.SIGINT)
}

// Start starts a server that was ended.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start(t)
}

func (s *Server) halt(t testing.TB, with syscall.Signal) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.end(with); err != nil && !strings.Contains(err.Error(), "exit status") {
		t.Fatalf("the server does not end: %v", err)
	}
}

// end sends a signal and waits. The caller holds mu.
func (s *Server) end(with syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	if err := s.guard.Process.Kill(); err != nil {
		return err
	}
	_ = s.guard.Wait() // it was killed
	if err := s.process.Process.Signal(with); err != nil {
		return err
	}
	s.process = nil
	return <-s.ended
}

// Stop ends the server, if it runs, and removes its directory.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.end(syscall.SIGINT)
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
		s.dir = ""
	}
	return err
}

//go:build unix

// Package pgtest runs a private PostgreSQL server for tests: in a temporary
// directory, on a Unix socket, independent of the machine's own servers.
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

// A Server is a PostgreSQL server. The zero Server starts on first use. The
// caller must Stop it, in TestMain if several tests share it.
type Server struct {
	// Durable turns fsync on, so that commits survive a loss of power. Only
	// benchmarks need it: commits survive a kill of the server without it.
	Durable bool
	// Settings are lines of postgresql.conf. [Server.Rewind] needs some.
	Settings string

	mu       sync.Mutex
	bin      string // directory of initdb and postgres
	dir      string // parent of the data directory and the socket
	user     *syscall.Credential
	process  *exec.Cmd // nil while the server is stopped
	exited   chan error
	watchdog *exec.Cmd // stops the server if this process ends without doing so
	log      bytes.Buffer
	schemas  atomic.Int64
}

const howToInstall = "install Debian's package postgresql, or put initdb and postgres into the PATH"

// start starts the server if it is stopped, after creating its directory if
// necessary. The caller holds mu.
func (s *Server) start(t testing.TB) {
	t.Helper()
	if s.process != nil {
		return
	}
	if s.dir == "" {
		if s.bin = programs(); s.bin == "" {
			needtest.Missing(t, "PostgreSQL is not installed", howToInstall)
		}
		if err := s.init(); err != nil {
			t.Fatalf("creating a database: %v", err)
		}
	}
	if err := s.run(); err != nil {
		t.Fatalf("starting PostgreSQL: %v\n%s", err, s.log.String())
	}
}

// programs returns the directory of initdb and postgres: the first in the PATH,
// else the newest version that Debian's packages have installed, else "".
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

// init creates the server's directory and an empty database.
func (s *Server) init() error {
	if err := s.makeDir(); err != nil {
		return err
	}
	out, err := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	// In a file, for programs that start the server themselves, such as pg_rewind.
	return appendFile(filepath.Join(s.data(), "postgresql.conf"), "\n"+s.Settings+"\n")
}

func appendFile(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func (s *Server) makeDir() error {
	var err error
	if s.dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		return err
	}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		if s.user, err = unprivileged(); err != nil {
			return err
		}
		if err := os.Chown(s.dir, int(s.user.Uid), int(s.user.Gid)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.user}
	return cmd
}

// run starts the server and waits until it accepts connections.
func (s *Server) run() error {
	fsync := "off"
	if s.Durable {
		fsync = "on"
	}
	s.log.Reset()
	args := []string{
		"-D", s.data(), "-k", s.dir, "-c", "listen_addresses=",
		"-c", "fsync=" + fsync, "-c", "max_connections=300", "-c", "shared_buffers=256MB", "-c", "unix_socket_permissions=0777",
	}
	cmd := s.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-exited:
			return fmt.Errorf("the server exited: %w", err)
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		conn, err := pgx.Connect(ctx, s.url("public"))
		if err == nil {
			err = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			s.process, s.exited = cmd, exited
			return s.startWatchdog()
		}
	}
	err := cmd.Process.Kill()
	return errors.Join(errors.New("the server accepted no connection within 30 seconds"), err, <-exited)
}

// startWatchdog starts a process that waits for the end of this one, on a pipe
// that the kernel then closes, and kills the server.
func (s *Server) startWatchdog() error {
	s.watchdog = exec.Command("sh", "-c", `read -r _; kill -QUIT "$0"; while kill -0 "$0" 2>/dev/null; do sleep 0.1; done; rm -rf "$1"`,
		strconv.Itoa(s.process.Process.Pid), s.dir)
	s.watchdog.Dir = "/"
	if _, err := s.watchdog.StdinPipe(); err != nil {
		return err
	}
	return s.watchdog.Start()
}

func (s *Server) url(schema string) string {
	return address(url.Values{"host": {s.dir}, "search_path": {schema}})
}

func address(q url.Values) string {
	q.Set("sslmode", "disable")
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: q.Encode()}).String()
}

// Schema creates a schema for the caller alone and returns its URL. It starts the
// server if necessary.
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

// Kill stops the server like a crash (PostgreSQL's immediate shutdown).
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGQUIT)
}

// Crash kills the server with SIGKILL. The processes of its connections end when they
// notice it; Crash waits for them.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGKILL)
}

// Shutdown disconnects all clients and stops the server (PostgreSQL's fast
// shutdown).
func (s *Server) Shutdown(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGINT)
}

// Start starts the server again after Kill or Shutdown.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start(t)
}

func (s *Server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stop(sig); err != nil && !strings.Contains(err.Error(), "exit status") && sig != syscall.SIGKILL {
		t.Fatalf("stopping PostgreSQL: %v", err)
	}
}

// stop sends sig and waits for the server to exit. The caller holds mu.
func (s *Server) stop(sig syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	if err := s.watchdog.Process.Kill(); err != nil {
		return err
	}
	_ = s.watchdog.Wait() // always "signal: killed"
	if err := s.process.Process.Signal(sig); err != nil {
		return err
	}
	s.process = nil
	return <-s.exited
}

// Stop stops the server, if it is running, and removes its directory. The next
// use starts it again with an empty database.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.stop(syscall.SIGINT)
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
		s.dir = ""
	}
	return err
}

//go:build unix

package command

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// newPostgres returns a database server that is stopped at the end of the test.
func newPostgres(t *testing.T) *pgtest.Server {
	t.Helper()
	server := new(pgtest.Server)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// TestPostgresScript runs the scripts in testdata/postgres. In each, PG is the
// address of an empty schema, with a password that no output may contain.
func TestPostgresScript(t *testing.T) {
	needtest.Long(t)
	server := newPostgres(t)
	files, err := filepath.Glob("testdata/postgres/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob = %v, %v; want files", files, err)
	}
	schemas := make(chan string, len(files))
	for range files {
		schemas <- strings.Replace(server.Schema(t), "postgres@", "postgres:geheim@", 1)
	}
	params := scripts("postgres")
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("PG", <-schemas)
		return setup(env)
	}
	testscript.Run(t, params)
}

// A served is a running HTTP server.
type served struct {
	cmd *exec.Cmd
	log *bufio.Reader
	url string // without a path
}

// serveOverHTTP starts a server with a command that ends with the flags of sequent serve.
func serveOverHTTP(t *testing.T, name string, args ...string) *served {
	t.Helper()
	s := &served{cmd: exec.Command(name, args...)}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	s.log = bufio.NewReader(stderr)
	first, err := s.log.ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(first), "url=")
	if err != nil || !ok {
		t.Fatalf("got %q (%v), want the server's URL", first, err)
	}
	s.url = strings.TrimSuffix(url, "/mcp")
	return s
}

// get returns the status and the body.
func (s *served) get(path string) string {
	res, err := http.Get(s.url + path)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(res.StatusCode, " ", strings.TrimSpace(string(body)))
}

// waitFor waits until GET of a path returns want.
func (s *served) waitFor(t *testing.T, path, want string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if got = s.get(path); got == want {
			return
		}
	}
	t.Errorf("timeout: GET %s returns %s, want %s", path, got, want)
}

// /readyz answers 503 while the database is unreachable and while the server drains.
// A draining server still serves calls.
func TestReadiness(t *testing.T) {
	t.Parallel()
	database := newPostgres(t)
	const ready, drain = `200 {"status":"ready"}`, 3 * time.Second
	s := serveOverHTTP(t, "sequent", "serve", "--http", "127.0.0.1:0", "--log-level", "info",
		"--store", database.Schema(t), "--drain", drain.String(), "--auth", tokens(t))
	s.waitFor(t, "/healthz", `200 {"status":"ok"}`)
	s.waitFor(t, "/readyz", ready)
	database.Kill(t)
	s.waitFor(t, "/readyz", `503 {"status":"not ready","reason":"store_unavailable"}`)
	if got := s.get("/healthz"); got != `200 {"status":"ok"}` {
		t.Errorf("without a database: GET /healthz returns %s", got)
	}
	database.Start(t)
	s.waitFor(t, "/readyz", ready)

	start := time.Now()
	stop(t, s.cmd)
	s.waitFor(t, "/readyz", `503 {"status":"not ready","reason":"draining"}`)
	if got := s.get("/mcp"); !strings.HasPrefix(got, "401 ") {
		t.Errorf("while draining: GET /mcp returns %s, want 401", got)
	}
	rest, err := io.ReadAll(s.log)
	if err != nil || strings.Contains(string(rest), "password") {
		t.Errorf("got log %s (%v)", rest, err)
	}
	if err := s.cmd.Wait(); err != nil || time.Since(start) < drain {
		t.Errorf("the server ended with %v after %v, want nil after %v", err, time.Since(start), drain)
	}
}

func tokens(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if _, _, err := token.Add(path, token.Info{Subject: "alice"}); err != nil {
		t.Fatal(err)
	}
	return path
}

// A server that nohup started ignores SIGHUP and ends with SIGTERM.
func TestServeHTTPUnderNohup(t *testing.T) {
	t.Parallel()
	s := serveOverHTTP(t, "sh", "-c", `trap "" HUP && exec sequent serve --http 127.0.0.1:0 --store memory --log-level info`)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 3 { // a server that is ending would soon refuse connections
		if got := s.get("/healthz"); got != `200 {"status":"ok"}` {
			t.Fatalf("after SIGHUP: %s", got)
		}
	}
	stop(t, s.cmd)
	rest, _ := io.ReadAll(s.log)
	if err := s.cmd.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("the server ended with %v and log %s", err, rest)
	}
}

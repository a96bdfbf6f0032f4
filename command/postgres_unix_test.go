//go:build unix

package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth/token"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
	"github.com/sequent-dev/sequent/store/sqlite"
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

func serveOverHTTP(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{cmd: exec.Command("sequent", append([]string{"serve", "--http", "127.0.0.1:0", "--log-level", "info"}, args...)...)}
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
	s := serveOverHTTP(t, "--store", database.Schema(t), "--drain", drain.String(), "--auth", tokens(t))
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

// sequent store copy continues after an interruption at any point.
func TestInterruptedCopy(t *testing.T) {
	t.Parallel()
	database := newPostgres(t).Schema(t)
	from := filepath.Join(t.TempDir(), "s.db")
	a, err := app.Open(t.Context(), app.Config{Store: from, Sync: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	const sessions, thoughts = 400, 8
	for i := range sessions {
		_, err := a.Engine.Begin(t.Context(), sequent.ID(fmt.Sprint(i)), func(c *sequent.Change) error {
			for n := range thoughts {
				if _, err := c.Append(sequent.Draft{Number: n + 1, Total: thoughts, Text: fmt.Sprint(i, n)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	copyRun := func() *exec.Cmd {
		return exec.Command("sequent", "store", "copy", "--store", from, "--to", database, "--json")
	}
	lines := 0
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGKILL} {
		cmd := copyRun()
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for in := bufio.NewScanner(out); in.Scan(); {
			if strings.Contains(in.Text(), `"added"`) && !strings.Contains(in.Text(), "summary") {
				lines++
			}
			if seen++; seen == 20 {
				if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
		}
		// The command may end before the signal arrives.
		if err := cmd.Wait(); err != nil && sig == syscall.SIGINT &&
			(cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "run the same command again")) {
			t.Errorf("after SIGINT: got %v and %s", err, stderr.String())
		}
	}
	out, err := copyRun().Output()
	if err != nil || !strings.Contains(string(out), `"failed":0,`) {
		t.Fatalf("last run: got %s (%v)", out, err)
	}
	t.Logf("%d sessions were reported before the last run", lines)
	a, err = app.OpenExisting(t.Context(), app.Config{Store: database})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for i := range sessions {
		s, err := a.Engine.Session(t.Context(), sequent.ID(fmt.Sprint(i)))
		if err != nil || s.Len() != thoughts {
			t.Fatalf("session %d: %v, error %v", i, s, err)
		}
		for th := range s.All() {
			if want := fmt.Sprint(i, th.Seq-1); th.Text != want {
				t.Errorf("thought %d of session %d is %q, want %q", th.Seq, i, th.Text, want)
			}
		}
	}
}

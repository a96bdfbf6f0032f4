//go:build unix

package main

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
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// newPostgres returns a server that ends with the test.
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

// TestPostgresScript runs the stories of testdata/postgres. In each, PG is the
// address of an empty schema, with a password that nobody must get to see.
func TestPostgresScript(t *testing.T) {
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

// A served is a server over HTTP, as a process.
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
		t.Fatalf("the server says %q (%v), want its URL", first, err)
	}
	s.url = strings.TrimSuffix(url, "/mcp")
	return s
}

// get returns status and body.
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

// becomes waits until a path is answered so.
func (s *served) becomes(t *testing.T, path, want string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if got = s.get(path); got == want {
			return
		}
	}
	t.Errorf("GET %s is answered with %s, want %s", path, got, want)
}

// A server is ready while its database is there, and says when it is to end
// before it does, without a change for those who call.
func TestReadiness(t *testing.T) {
	t.Parallel()
	database := newPostgres(t)
	const ready, drain = `200 {"status":"ready"}`, 3 * time.Second
	s := serveOverHTTP(t, "--store", database.Schema(t), "--drain", drain.String(), "--auth", tokens(t))
	s.becomes(t, "/healthz", `200 {"status":"ok"}`)
	s.becomes(t, "/readyz", ready)
	database.Kill(t)
	s.becomes(t, "/readyz", `503 {"status":"not ready","reason":"store_unavailable"}`)
	if got := s.get("/healthz"); got != `200 {"status":"ok"}` {
		t.Errorf("/healthz says %s while the database is away", got)
	}
	database.Start(t)
	s.becomes(t, "/readyz", ready)

	begun := time.Now()
	stop(t, s.cmd)
	s.becomes(t, "/readyz", `503 {"status":"not ready","reason":"draining"}`)
	if got := s.get("/mcp"); !strings.HasPrefix(got, "401 ") {
		t.Errorf("a call is answered with %s while the server waits to end, want 401 as ever", got)
	}
	rest, err := io.ReadAll(s.log)
	if err != nil || strings.Contains(string(rest), "password") {
		t.Errorf("it says %s (%v)", rest, err)
	}
	if err := s.cmd.Wait(); err != nil || time.Since(begun) < drain {
		t.Errorf("it ends with %v after %v, want nil after %v", err, time.Since(begun), drain)
	}
}

func tokens(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if _, _, err := app.NewToken(path, "alice"); err != nil {
		t.Fatal(err)
	}
	return path
}

// Copying that is killed, at any moment, goes on when it is run again.
func TestCopyIsKilled(t *testing.T) {
	t.Parallel()
	database := newPostgres(t).Schema(t)
	from := filepath.Join(t.TempDir(), "s.db")
	a, err := app.Open(t.Context(), app.Config{Store: from, Sync: "normal"})
	if err != nil {
		t.Fatal(err)
	}
	const sessions, thoughts = 400, 8
	for i := range sessions {
		_, err := a.Engine.Begin(t.Context(), sequent.ID(fmt.Sprint(i)), func(c *sequent.Change) error {
			for n := range thoughts {
				if _, err := c.Append(sequent.Draft{Number: n + 1, Total: thoughts, Text: fmt.Sprint(i, n), More: true}); err != nil {
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
	copying := func() *exec.Cmd { return exec.Command("sequent", "copy", "--from", from, "--to", database, "--json") }
	lines := 0
	for _, with := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGKILL} {
		cmd := copying()
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for in := bufio.NewScanner(out); in.Scan(); {
			if strings.Contains(in.Text(), `"added"`) && !strings.Contains(in.Text(), "summary") {
				lines++
			}
			if seen++; seen == 20 {
				if err := cmd.Process.Signal(with); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
		}
		// It may have been done before the signal came.
		if err := cmd.Wait(); err != nil && with == syscall.SIGINT &&
			(cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "goes on from there")) {
			t.Errorf("after Ctrl-C it ends with %v and says %s", err, said.String())
		}
	}
	out, err := copying().Output()
	if err != nil || !strings.Contains(string(out), `"failed":0,`) || !strings.HasSuffix(string(out), "\"complete\":true}\n") {
		t.Fatalf("the last run says %s (%v)", out, err)
	}
	t.Logf("%d sessions were told of before the last run", lines)
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

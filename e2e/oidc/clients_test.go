package oidc_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// The MCP Inspector knows nothing but the server's URL, registers itself and signs a person in.
func TestInspector(t *testing.T) {
	t.Parallel()
	newSite(t, "", "").inspector(t, "inspector")
}

// authorizationPattern matches the page that a client wants a person to open.
var authorizationPattern = regexp.MustCompile(`http://127\.0\.0\.1:\d+/auth\?\S+`)

// inspector calls a tool with the command line of the MCP Inspector, which waits for the person at
// a callback of its own, and lists the tools with the token that it has kept.
func (s *site) inspector(t *testing.T, account string) {
	t.Helper()
	path, err := filepath.Abs("../node_modules/.bin/mcp-inspector")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		needtest.Missing(t, "the npm packages of e2e are not installed", "run make npm")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	home := t.TempDir()
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, s.provider.Node, append([]string{path, "--cli", "--server-url", s.public + "/mcp", "--transport", "http", "--connect-timeout", "60000"}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "NO_COLOR=1", "DISPLAY=", "MCP_AUTO_OPEN_ENABLED=true", "MCP_INSPECTOR_SECRET_STORE=file") // it has no terminal and no keychain
		return cmd
	}
	callback := "http://127.0.0.1:" + programtest.FreePort(t) + "/oauth/callback"
	cmd := run("--callback-url", callback, "--method", "tools/call", "--tool-name", "sequentialthinking",
		"--tool-args-json", `{"thought":"`+account+` signs in","nextThoughtNeeded":true}`)
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if page := authorizationPattern.FindString(lines.Text()); page != "" {
			newPerson(t, map[string]string{"login": account, "password": "any"}).visit(page)
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "thoughtNumber") {
		t.Fatalf("the Inspector: %v\n%s\n%s", err, out.String(), said.String())
	}
	s.recorded(t, "oidc:"+account)
	again, err := run("--use-stored-auth", "--stored-auth-only", "--method", "tools/list").CombinedOutput()
	if err != nil || !strings.Contains(string(again), "sequentialthinking") {
		t.Errorf("with the token that it has kept, the Inspector: %v\n%s", err, again)
	}
}

// recorded fails the test if an owner has no session.
func (s *site) recorded(t *testing.T, owner string) {
	t.Helper()
	out, err := s.command("list", "--owner", owner, "--all-projects", "--store", s.store).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "signs in") {
		t.Errorf("the sessions of %s: %v, %s", owner, err, out)
	}
}

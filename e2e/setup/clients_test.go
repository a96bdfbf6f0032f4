package setup

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// A real client lists the server after setup, connected where it connects, and does not list
// it after remove: for this program and for a server over HTTP with a token.
func TestRealClients(t *testing.T) {
	t.Parallel()
	clients := []struct {
		id, program string
		args        []string
		want        string // a program
		wantTeam    string
		skills      []string // arguments that show the descriptions of skills
	}{
		{"claude-code", "claude", []string{"mcp", "list"}, "serve - ✔ Connected", "(HTTP) - ✔ Connected", nil},
		{"gemini-cli", "gemini", []string{"mcp", "list"}, "(stdio) - Connected", "(http) - Connected", []string{"skills", "list"}},
		{"codex", "codex", []string{"mcp", "get", "sequent"}, "args: serve", "bearer_token_env_var: SEQUENT_TOKEN", []string{"debug", "prompt-input", "hello"}},
	}
	for _, c := range clients {
		npm(t, c.program)
	}
	program := programtest.Build(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	h := newHome(t, program)
	token := strings.TrimSpace(h.run(program, "server", "token", "new", "alice", "--file", tokens))
	url := programtest.ServeHTTP(t, program, "--auth", tokens, "--store", "memory")
	for _, c := range clients {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, program)
			h.env = append(h.env, "SEQUENT_TOKEN="+token, "GEMINI_CLI_TRUST_WORKSPACE=true", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
			client := npm(t, c.program)
			list := func(want string) {
				t.Helper()
				cmd := h.command(client, c.args...)
				out, err := cmd.CombinedOutput() // some list on standard error
				if !strings.Contains(string(out), want) {
					t.Errorf("%s %s printed (%v)\n%s\nwant %q", c.program, strings.Join(c.args, " "), err, out, want)
				}
			}
			h.run(program, "setup", "--client", c.id, "--with-skill", "--yes")
			list(c.want)
			if len(c.skills) > 0 {
				if out, err := h.command(client, c.skills...).CombinedOutput(); !strings.Contains(string(out), "decisions in several steps") {
					t.Errorf("%s does not find the skill (%v)\n%s", c.program, err, out)
				}
			}
			h.run(program, "setup", "--client", c.id, "--yes", "--team", url, "--token-env", "SEQUENT_TOKEN")
			list(c.wantTeam)
			h.run(program, "remove", "--yes")
			cmd := h.command(client, c.args...)
			if out, _ := cmd.CombinedOutput(); strings.Contains(string(out), "Connected") || strings.Contains(string(out), "enabled: true") {
				t.Errorf("after remove %s lists\n%s", c.program, out)
			}
		})
	}
}

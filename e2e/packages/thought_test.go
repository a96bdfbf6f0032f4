package packages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// From a machine with Node.js alone, and from one with a shell alone: one command, then a
// question in Claude Code, and a thought is recorded. The whole takes less than 30 seconds.
func TestFirstThought(t *testing.T) {
	claude, err := filepath.Abs(filepath.Join("..", "setup", "node_modules", ".bin", "claude"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(claude); err != nil {
		needtest.Missing(t, "the npm packages of e2e/setup are not installed", "run make npm")
	}
	release(t)
	ways := map[string]func(t *testing.T) (h *home, install func()){
		"npx": func(t *testing.T) (*home, func()) {
			t.Helper()
			h, _ := npmHome(t)
			return h, func() { h.run("npx", "--yes", "@sequent-dev/sequent", "setup", "--client", "claude-code", "--yes") }
		},
		"install.sh": func(t *testing.T) (*home, func()) {
			t.Helper()
			h := newHome(t, node(t)) // Claude Code needs it
			h.env = append(h.env, "SEQUENT_BASE_URL="+serveFiles(t, nil))
			return h, func() {
				h.run("sh", filepath.Join(release(t), "install.sh"))
				h.run(h.installed(), "setup", "--client", "claude-code", "--yes")
			}
		},
	}
	for name, open := range ways {
		t.Run(name, func(t *testing.T) {
			model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return
				}
				programtest.Messages(w, r.URL.Path, body, "mcp__sequent__sequentialthinking", `{"thought":"Reports run at noon and starve the pool.","nextThoughtNeeded":false}`)
			}))
			t.Cleanup(model.Close)
			h, install := open(t)
			h.env = append(h.env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=sk-ant-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1")
			begun := time.Now()
			install()
			installed := time.Since(begun)
			cmd := h.command(claude, "-p", "Why do orders fail at noon?", "--model", "claude-scripted", "--allowedTools", "mcp__sequent__sequentialthinking")
			cmd.Stdin = strings.NewReader("")
			out := string(programtest.Output(t, cmd))
			took := time.Since(begun)
			if !strings.Contains(out, "The thought is recorded.") {
				t.Errorf("claude printed %s", out)
			}
			if shown := h.run(h.installed(), "show"); !strings.Contains(shown, "Reports run at noon and starve the pool.") {
				t.Errorf("show printed %s", shown)
			}
			t.Logf("installed and set up in %v, the thought was recorded after %v", installed.Round(time.Millisecond), took.Round(time.Millisecond))
			if limit := 30 * time.Second; os.Getenv("SEQUENT_LONG") != "" && took > limit {
				t.Errorf("it took %v, want less than %v", took, limit)
			}
		})
	}
}

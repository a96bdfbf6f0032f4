package setup

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// After setup, Claude Code with a scripted model records a thought in the store of the user.
func TestThoughtInClaudeCode(t *testing.T) {
	t.Parallel()
	claude, program := npm(t, "claude"), programtest.Build(t)
	h := newHome(t, program)
	h.run(program, "setup", "--client", "claude-code", "--with-skill", "--yes")
	var offered atomic.Bool // the skill
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && strings.Contains(string(body), "decisions in several steps") {
			offered.Store(true)
		}
		programtest.Messages(w, r.URL.Path, body, toolOfServer, `{"thought":"Reports run at noon and starve the pool.","nextThoughtNeeded":false}`)
	}))
	t.Cleanup(model.Close)
	h.env = append(h.env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=sk-ant-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1")
	cmd := h.command(claude, "-p", "Why do orders fail at noon?", "--model", "claude-scripted", "--allowedTools", "mcp__sequent__sequentialthinking")
	cmd.Stdin = strings.NewReader("")
	if out := string(programtest.Output(t, cmd)); !strings.Contains(out, "The thought is recorded.") {
		t.Errorf("claude printed %s", out)
	}
	if !offered.Load() {
		t.Error("the skill is not offered to the model")
	}
	if shown := h.run(program, "show"); !strings.Contains(shown, "Reports run at noon and starve the pool.") {
		t.Errorf("show printed %s", shown)
	}
}

// toolOfServer is the name that Claude Code gives to the tool of a server sequent.
const toolOfServer = "mcp__sequent__sequentialthinking"

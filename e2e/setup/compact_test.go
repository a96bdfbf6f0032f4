package setup

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/e2e/programtest"
)

// long returns an export of a session of 200 thoughts, of which 30 revise an earlier one.
// Each thought has a mark of its own.
func long(t *testing.T, id sequent.ID) []byte {
	t.Helper()
	e := sequent.New(sequent.Config{})
	for n := 1; n <= 200; n++ {
		d := sequent.Draft{Number: n, Total: 200, Text: fmt.Sprintf("Step <%d>: the queue of shard %d was measured and is short.", n, n%7)}
		if n > 5 && n%6 == 0 && n <= 5+6*30 {
			d.Revision, d.Revises = true, sequent.To(n-5)
			d.Text = fmt.Sprintf("Finding <%d>: measured again, the queue of shard %d is long.", n, n%7)
		}
		if _, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error { _, err := c.Append(d); return err }); err != nil {
			t.Fatal(err)
		}
	}
	h, entries, err := e.Entries(t.Context(), id, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return archive.Log(h, entries)
}

// After a compaction, the context of Claude Code has what its session came to, by the
// hooks: what was asked, every finding that holds, and none of those that were revised.
func TestCompactionInClaudeCode(t *testing.T) {
	t.Parallel()
	claude, program := npm(t, "claude"), programtest.Build(t)
	h := newHome(t, program)
	h.run(program, "setup", "--client", "claude-code", "--with-skill", "--yes")
	const id = "7k3m9q2xw4ht"
	export := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(export, long(t, id), 0o600); err != nil {
		t.Fatal(err)
	}
	h.run(program, "import", export)
	hooks := map[string]any{}
	for event, command := range map[string][2]string{"PostToolUse": {"mcp__.*", "post-tool-use"}, "SessionStart": {"compact|resume", "session-start"}} {
		hooks[event] = []any{map[string]any{
			"matcher": command[0],
			"hooks":   []any{map[string]any{"type": "command", "command": fmt.Sprintf("%q hook %s", program, command[1])}},
		}}
	}
	settings, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.dir, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, ".claude", "settings.json"), settings, 0o600); err != nil {
		t.Fatal(err)
	}
	model := newModel(t, "Go on with the queues.", func(w http.ResponseWriter, path string, body []byte) {
		programtest.Messages(w, path, body, toolOfServer, `{"thought":"Shard 3 is next.","nextThoughtNeeded":true,"sessionId":"`+id+`"}`)
	})
	h.env = append(h.env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=sk-ant-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1")
	const conversation = "1f0c8f5e-6d3a-4b5e-9d53-3c3d5c1a0001"
	ask := func(args ...string) string {
		t.Helper()
		cmd := h.command(claude, append([]string{"--model", "claude-scripted", "--allowedTools", toolOfServer, "-p"}, args...)...)
		cmd.Stdin = strings.NewReader("")
		return string(programtest.Output(t, cmd))
	}
	ask("Which queue is next?", "--session-id", conversation)
	ask("/compact", "--resume", conversation)
	ask("Go on with the queues.", "--resume", conversation)
	last := model.heard()
	if !strings.Contains(last, "decisions in several steps") {
		t.Error("the skill is not offered to the model")
	}
	if shown := h.run(program, "show", id); !strings.Contains(shown, "Shard 3 is next.") {
		t.Errorf("show printed %s", shown)
	}
	if !strings.Contains(last, "This conversation thinks in the session "+id) {
		t.Fatalf("the model was sent %d bytes without the session", len(last))
	}
	for n := 1; n <= 200; n++ {
		finding, step := strings.Contains(last, fmt.Sprintf("Finding <%d>", n)), strings.Contains(last, fmt.Sprintf("Step <%d>", n))
		if want := n > 5 && n%6 == 0 && n <= 5+6*30; want != finding {
			t.Errorf("finding %d is in the context: %v, want %v", n, finding, want)
		}
		if step && n > 1 && n%6 == 1 && n+5 <= 5+6*30 {
			t.Errorf("step %d was revised, and is in the context", n)
		}
	}
}

// toolOfServer is the name that Claude Code gives to the tool of a server sequent.
const toolOfServer = "mcp__sequent__sequentialthinking"

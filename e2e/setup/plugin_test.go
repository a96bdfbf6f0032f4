package setup

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// withPlugin returns a home with the program on the PATH, and a folder with the files of the
// plugin alone, as in a release.
func withPlugin(t *testing.T) (h *home, root string) {
	t.Helper()
	program := programtest.Build(t)
	source, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	h = newHome(t, program, ".codex")
	h.env = append(h.env, "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	root = filepath.Join(h.dir, "repository")
	for _, dir := range []string{".agents", ".claude-plugin", "plugin"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(source, dir))); err != nil {
			t.Fatal(err)
		}
	}
	return h, root
}

// A model is a scripted service of models that remembers the last request with a text.
type model struct {
	*httptest.Server
	mu   sync.Mutex
	last string
}

func newModel(t *testing.T, text string, answer func(w http.ResponseWriter, path string, body []byte)) *model {
	m := new(model)
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && strings.Contains(string(body), text) {
			m.mu.Lock()
			m.last = string(body)
			m.mu.Unlock()
		}
		answer(w, r.URL.Path, body)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *model) heard() string { m.mu.Lock(); defer m.mu.Unlock(); return m.last }

// checkResumed checks that the session came back when its conversation was resumed.
func (m *model) checkResumed(t *testing.T, h *home) {
	t.Helper()
	if got := m.heard(); !strings.Contains(got, "This conversation thinks in the session") {
		t.Errorf("the model was sent %d bytes without the session; the store has\n%s", len(got), h.run(h.program, "list"))
	}
}

const scripted = `{"thought":"Reports run at noon and starve the pool.","nextThoughtNeeded":true}`

// Claude Code accepts the plugin of the repository: after it is installed, the server and the
// skill are there, and its hooks bring a session back when its conversation is resumed.
func TestPluginInClaudeCode(t *testing.T) {
	t.Parallel()
	claude := npm(t, "claude")
	h, root := withPlugin(t)
	h.run(claude, "plugin", "validate", root)
	if out := h.run(claude, "plugin", "validate", "--profile", "directory", filepath.Join(root, "plugin")); !strings.Contains(out, "skills: sequent:sequent") {
		t.Errorf("validate printed %s", out)
	}
	h.run(claude, "plugin", "marketplace", "add", root)
	h.run(claude, "plugin", "install", "sequent@sequent")
	if out := h.run(claude, "mcp", "list"); !strings.Contains(out, "sequent serve - ✔ Connected") {
		t.Errorf("Claude Code lists\n%s", out)
	}
	const tool = "mcp__plugin_sequent_sequent__sequentialthinking"
	model := newModel(t, "Go on with the orders.", func(w http.ResponseWriter, path string, body []byte) {
		programtest.Messages(w, path, body, tool, scripted)
	})
	h.env = append(h.env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=sk-ant-test")
	for _, args := range [][]string{{"Why do orders fail at noon?", "--session-id"}, {"Go on with the orders.", "--resume"}} {
		cmd := h.command(claude, append([]string{"--model", "claude-scripted", "--allowedTools", tool, "-p"}, append(args, "1f0c8f5e-6d3a-4b5e-9d53-3c3d5c1a0002")...)...)
		cmd.Stdin = strings.NewReader("")
		programtest.Output(t, cmd)
	}
	model.checkResumed(t, h)
}

// Codex accepts the plugin, too, and runs its hooks if they are in the file of the user.
func TestPluginInCodex(t *testing.T) {
	t.Parallel()
	codex := npm(t, "codex")
	h, root := withPlugin(t)
	h.run(codex, "plugin", "marketplace", "add", root)
	h.run(codex, "plugin", "add", "sequent@sequent")
	if out := h.run(codex, "mcp", "list"); !strings.Contains(out, "sequent  serve") {
		t.Errorf("Codex lists\n%s", out)
	}
	if out := h.run(codex, "debug", "prompt-input", "hello"); !strings.Contains(out, "decisions in several steps") {
		t.Errorf("Codex does not offer the skill:\n%s", out)
	}
	hooks, err := os.ReadFile(filepath.Join(root, "plugin", "hooks", "hooks.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(h.dir, ".codex", "hooks.json"), hooks, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	model := newModel(t, "Go on with the orders.", responses)
	h.env = append(h.env, "SCRIPTED_KEY=test", "XDG_DATA_HOME=") // servers do not get that variable from Codex
	options := []string{
		"--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust",
		"-c", `model="gpt-scripted"`, "-c", `model_provider="scripted"`,
		"-c", `model_providers.scripted={name="scripted",base_url="` + model.URL + `/v1",env_key="SCRIPTED_KEY",wire_api="responses"}`,
	}
	for _, args := range [][]string{{"exec"}, {"exec", "resume", "--last"}} {
		prompt := "Why do orders fail at noon?"
		if len(args) > 1 {
			prompt = "Go on with the orders."
		}
		cmd := h.command(codex, append(append(args, options...), prompt)...)
		cmd.Stdin = strings.NewReader("")
		programtest.Output(t, cmd)
	}
	model.checkResumed(t, h)
}

// responses is a model of the Responses API that calls the thinking tool once and then ends.
func responses(w http.ResponseWriter, path string, body []byte) {
	var request struct {
		Input json.RawMessage
		Tools []struct {
			Type, Name string
			Tools      []struct{ Name string }
		}
	}
	if path != "/v1/responses" || json.Unmarshal(body, &request) != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	item := map[string]any{
		"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": "The thought is recorded.", "annotations": []any{}}},
	}
	if !strings.Contains(string(request.Input), "call_thought") {
		for _, tool := range request.Tools {
			call := map[string]any{"type": "function_call", "id": "fc_1", "call_id": "call_thought", "arguments": scripted, "status": "completed"}
			if strings.HasSuffix(tool.Name, "sequentialthinking") {
				call["name"] = tool.Name
				item = call
			}
			for _, inner := range tool.Tools {
				if inner.Name == "sequentialthinking" {
					call["namespace"], call["name"] = tool.Name, inner.Name
					item = call
				}
			}
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	response := map[string]any{"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-scripted", "output": []any{item}, "usage": map[string]any{
		"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
		"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
	}}
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": "resp_1", "status": "in_progress"}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": response},
	} {
		data, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
	}
}

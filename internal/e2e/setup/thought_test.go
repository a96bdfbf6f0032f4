package setup

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
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
		messages(w, r.URL.Path, body, toolOfServer, `{"thought":"Reports run at noon and starve the pool.","nextThoughtNeeded":false}`)
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

// messages is a model of the Messages API, streamed or not, that finds the tool, calls it once
// with the given arguments and then ends. It answers other requests, such as for a title, with a text.
func messages(w http.ResponseWriter, path string, body []byte, toolName, args string) {
	var request struct {
		Stream   bool
		Tools    []struct{ Name string }
		Messages json.RawMessage
	}
	if path != "/v1/messages" || json.Unmarshal(body, &request) != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	block, delta, reason := `{"type":"text","text":""}`, `{"type":"text_delta","text":"The thought is recorded."}`, "end_turn"
	offers := func(name string) bool {
		return slices.ContainsFunc(request.Tools, func(tool struct{ Name string }) bool { return tool.Name == name })
	}
	use := func(name, input string) {
		text, _ := json.Marshal(input)
		block = `{"type":"tool_use","id":"toolu_` + name + `","name":"` + name + `","input":{}}`
		delta, reason = `{"type":"input_json_delta","partial_json":`+string(text)+`}`, "tool_use"
	}
	done := string(request.Messages)
	switch {
	case strings.Contains(done, "toolu_"+toolName):
	case offers(toolName):
		use(toolName, args)
	case offers("ToolSearch") && !strings.Contains(done, "toolu_ToolSearch"): // tools of servers are found first
		use("ToolSearch", `{"query":"select:`+toolName+`"}`)
	}
	const usage = `{"input_tokens":1,"output_tokens":1}`
	message := `{"id":"msg_1","type":"message","role":"assistant","model":"claude-scripted","content":[],"stop_reason":null,"stop_sequence":null,"usage":` + usage + `}`
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, strings.NewReplacer(`"content":[]`, `"content":[{"type":"text","text":"A title"}]`, `"stop_reason":null`, `"stop_reason":"end_turn"`).Replace(message))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range [][2]string{
		{"message_start", `"message":` + message},
		{"content_block_start", `"index":0,"content_block":` + block},
		{"content_block_delta", `"index":0,"delta":` + delta},
		{"content_block_stop", `"index":0`},
		{"message_delta", `"delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":` + usage},
		{"message_stop", ""},
	} {
		data := `{"type":"` + e[0] + `"`
		if e[1] != "" {
			data += "," + e[1]
		}
		fmt.Fprintf(w, "event: %s\ndata: %s}\n\n", e[0], data)
	}
}

package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// A model calls the tool of a third-party MCP server, which uses another SDK.
func TestThirdPartyTools(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	script, err := filepath.Abs("../node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		needtest.Missing(t, "the npm packages of e2e are not installed", "run make npm")
	}
	node := programtest.Node(t, "../node_modules")
	theirs := func(args string) llmtest.Reply {
		return llmtest.Reply{Turn: llmtest.Turn{Calls: []llm.Call{{Name: "sequentialthinking_2", Args: args}}}}
	}
	model := llmtest.Serve(t,
		theirs(`{"thought":"Over there.","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":false}`),
		theirs(`{"thought":"Half of it."}`),
		llmtest.Reply{Turn: llmtest.Say("Done.")},
	)
	cmd := exec.Command(program, "think", "--json", "--model", "gpt-4o", "--store", filepath.Join(t.TempDir(), "store.db"),
		"--mcp", fmt.Sprintf("'%s' '%s'", node, script), "Think over there.")
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+model.URL, "OPENAI_API_KEY="+key, "DISABLE_THOUGHT_LOGGING=true")
	var results []string
	for line := range strings.Lines(string(programtest.Output(t, cmd))) {
		var e struct {
			Event, Text string
			Failed      bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if e.Event == "result" {
			results = append(results, fmt.Sprint(e.Failed, " ", e.Text))
		}
	}
	if len(results) != 2 || !strings.HasPrefix(results[0], "false ") || !strings.Contains(results[0], `"thoughtHistoryLength": 1`) ||
		!strings.HasPrefix(results[1], "true ") || !strings.Contains(results[1], "nextThoughtNeeded") {
		t.Errorf("got results %q", results)
	}
	sent := model.Requests()
	if len(sent) != 3 || !strings.Contains(string(sent[0].Body), `"sequentialthinking_2"`) || !strings.Contains(string(sent[2].Body), "nextThoughtNeeded") {
		t.Errorf("got %d requests, the first %s", len(sent), sent[0].Body)
	}
}

// A plan that is killed during a request goes on in another process: no answered request is
// repeated, no thought is recorded twice and no tool writes twice.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	program, dir, held := programtest.Build(t), t.TempDir(), make(chan struct{})
	store, other := filepath.Join(dir, "store.db"), filepath.Join(dir, "other.db")
	replies := []llmtest.Reply{
		{Turn: llmtest.Say("Ten connections, 32 workers.")},
		{Turn: llmtest.Turn{Calls: []llm.Call{
			{ID: "a", Name: "sequentialthinking_2", Args: `{"thought":"Looked at the worker.","nextThoughtNeeded":false}`},
			{ID: "b", Name: "sequentialthinking", Args: `{"thought":"It calls out.","thoughtNumber":2,"totalThoughts":9,"nextThoughtNeeded":true}`},
		}}},
		{Hold: func(r *http.Request) { close(held); <-r.Context().Done() }},
		{Turn: llmtest.Say("The check holds the connection.")},
		{Turn: llmtest.Say("1. Move the check.")},
	}
	model := llmtest.Serve(t, replies...)
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, append(args, "--model", "gpt-4o", "--store", store, "--mcp", fmt.Sprintf("'%s' serve --store '%s'", program, other))...)
		cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+model.URL, "OPENAI_API_KEY="+key)
		return cmd
	}
	first := command("plan", "Move the fraud check.")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	select {
	case <-held:
		_ = first.Process.Kill() // the model holds its request
		<-ended
	case err := <-ended:
		t.Fatalf("the plan ended before it was killed: %v", err)
	}
	programtest.Output(t, command("plan", "resume"))
	if n := len(model.Requests()); n != len(replies) {
		t.Errorf("got %d requests, want %d", n, len(replies))
	}
	for file, want := range map[string][]string{
		store: {"Ten connections, 32 workers.", "It calls out.", "The check holds the connection."}, other: {"Looked at the worker."},
	} {
		var session archive.Export // the only one
		raw := programtest.Output(t, exec.Command(program, "export", "--all-projects", "--format", "json", "--store", file))
		if err := json.Unmarshal(raw, &session); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		var got []string
		for _, th := range sequent.Thoughts(session.Log) {
			got = append(got, th.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has thoughts %q, want %q", filepath.Base(file), got, want)
		}
	}
}

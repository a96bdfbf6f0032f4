package clients

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// The published names of the default dialect, in order.
var (
	tools     = []string{"sequentialthinking", "recall_thinking"}
	prompts   = []string{"think", "resume", "review"}
	resources = []string{"sequent://sessions", "sequentialthinking://documentation", "skill://sequent/SKILL.md"}
)

// Two third-party clients use one HTTP server with a token, in every era that they
// support: lists, calls, resources and prompts.
func TestHTTP(t *testing.T) {
	t.Parallel()
	inspector, program, node := inspector(t), programtest.Build(t), programtest.Node(t, "../node_modules")
	file := filepath.Join(t.TempDir(), "tokens")
	token := programtest.Token(t, file, "alice")
	url := programtest.ServeHTTP(t, program, "--auth", file, "--store", filepath.Join(t.TempDir(), "sequent.db"))
	for _, era := range []string{"legacy", "auto", "modern"} {
		t.Run("client "+era, func(t *testing.T) {
			t.Parallel()
			typeScriptClient(t, exec.Command(node, "http.mjs", era, url, token), era)
		})
		t.Run("inspector "+era, func(t *testing.T) {
			t.Parallel()
			inspectHTTP(t, func(args ...string) []byte {
				t.Helper()
				cmd := exec.Command(node, inspector, "--cli", url, "--transport", "http", "--protocol-era", era,
					"--header", "Authorization: Bearer "+token, "--format", "json")
				cmd.Args = append(cmd.Args, args...)
				return programtest.Output(t, cmd)
			})
		})
	}
}

func typeScriptClient(t *testing.T, cmd *exec.Cmd, era string) {
	var got struct {
		Version                              string
		Tools, Resources, Templates, Prompts []string
		Reply                                struct{ ThoughtNumber int }
		Resource, Prompt                     string
		Completion                           []string
		Refused                              bool
	}
	out := programtest.Output(t, cmd)
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: the client printed %s", err, out)
	}
	if modern := got.Version == "2026-07-28"; modern != (era != "legacy") {
		t.Errorf("got version %q", got.Version)
	}
	if !slices.Equal(got.Tools, tools) || !slices.Equal(got.Prompts, prompts) || len(got.Resources) != len(resources) || len(got.Templates) != 3 {
		t.Errorf("got lists %q, %q, %q, %q", got.Tools, got.Prompts, got.Resources, got.Templates)
	}
	if got.Reply.ThoughtNumber != 2 || len(got.Completion) != 1 || !got.Refused {
		t.Errorf("second thought: got number %d, completion %q, refused %v",
			got.Reply.ThoughtNumber, got.Completion, got.Refused)
	}
	for name, text := range map[string]string{"resource": got.Resource, "prompt": got.Prompt} {
		if !strings.Contains(text, "Orders fail at noon.") || !strings.Contains(text, "Reports run at noon.") {
			t.Errorf("got %s %s", name, text)
		}
	}
}

func inspectHTTP(t *testing.T, inspect func(args ...string) []byte) {
	listed := func(out []byte, want []string) {
		t.Helper()
		at := 0
		for _, name := range want {
			i := strings.Index(string(out[at:]), `"`+name+`"`)
			if i < 0 {
				t.Fatalf("%q is missing or out of order in %s", name, out)
			}
			at += i
		}
	}
	listed(inspect("--method", "tools/list", "--strict"), tools)
	listed(inspect("--method", "prompts/list"), prompts)
	listed(inspect("--method", "resources/list"), resources)
	listed(inspect("--method", "resources/templates/list"), []string{"sequent://sessions/{id}"})
	var called struct {
		Result struct {
			StructuredContent struct{ SessionID string }
		}
	}
	out := inspect("--method", "tools/call", "--tool-name", "sequentialthinking",
		"--tool-args-json", `{"thought": "Orders fail at noon.", "thoughtNumber": 1, "nextThoughtNeeded": true}`)
	if err := json.Unmarshal(out, &called); err != nil || called.Result.StructuredContent.SessionID == "" {
		t.Fatalf("%v: the inspector printed %s", err, out)
	}
	id := called.Result.StructuredContent.SessionID
	for _, args := range [][]string{
		{"--method", "tools/call", "--tool-name", "recall_thinking", "--tool-args-json", `{"sessionId": "` + id + `"}`},
		{"--method", "resources/read", "--uri", "sequent://sessions/" + id},
		{"--method", "prompts/get", "--prompt-name", "resume", "--prompt-args", "session=" + id},
	} {
		if out := inspect(args...); !strings.Contains(string(out), "Orders fail at noon.") {
			t.Errorf("%q printed %s", args, out)
		}
	}
}

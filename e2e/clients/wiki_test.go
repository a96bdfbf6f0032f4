package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// A third-party client uses a vault, in both eras: a session, a refusal, a search,
// and notes with slashes and spaces in their URIs.
func TestWiki(t *testing.T) {
	t.Parallel()
	inspector, server, node := inspector(t), programtest.Build(t), programtest.Node(t, "../node_modules")
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			vault := filepath.Join(dir, "vault")
			if err := os.MkdirAll(filepath.Join(vault, "ideas"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(vault, "ideas", "my note.md"), []byte("The [[pool]] is empty.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			inspect := func(args ...string) string {
				t.Helper()
				cmd := exec.Command(node, inspector, "--cli", server, "serve", "--dialect", "wiki",
					"--store", filepath.Join(dir, "s.db"), "--vault", vault, "--protocol-era", era, "--format", "json")
				cmd.Args = append(cmd.Args, args...)
				return string(programtest.Output(t, cmd))
			}
			call := func(tool, args string) (structured struct {
				SessionID string
				Results   []struct{ URI string }
			}) {
				t.Helper()
				var out struct {
					Result struct{ StructuredContent json.RawMessage }
				}
				printed := inspect("--method", "tools/call", "--tool-name", tool, "--tool-args-json", args)
				if err := json.Unmarshal([]byte(printed), &out); err != nil {
					t.Fatalf("%v: %s", err, printed)
				}
				if err := json.Unmarshal(out.Result.StructuredContent, &structured); err != nil {
					t.Fatalf("%v: %s", err, printed)
				}
				return structured
			}
			id := call("sequential_thinking", `{"response": "Why is the [[pool]] empty?", "nextThoughtNeeded": true, "totalThoughts": 2}`).SessionID
			call("sequential_thinking", `{"sessionId": "`+id+`", "response": "The [[report-job]].", "thoughtNumber": 1, "totalThoughts": 2, "conclusion": "Found the [[report-job]]."}`)
			found := call("search_memories", `{"query": "[[pool]]"}`).Results
			if len(found) != 2 {
				t.Fatalf("search_memories found %+v", found)
			}
			for _, r := range found {
				want := "The [[report-job]]."
				if strings.Contains(r.URI, "ideas") {
					want = "The [[pool]] is empty."
				}
				if doc := inspect("--method", "resources/read", "--uri", r.URI); !strings.Contains(doc, want) || !strings.Contains(doc, "text/markdown") {
					t.Errorf("%s: got %s", r.URI, doc)
				}
			}
			if list := inspect("--method", "resources/templates/list"); !strings.Contains(list, "memory://{+path}") {
				t.Errorf("got templates %s", list)
			}
			refused := exec.Command(node, inspector, "--cli", server, "serve", "--dialect", "wiki",
				"--store", filepath.Join(dir, "s.db"), "--vault", vault, "--protocol-era", era, "--format", "json",
				"--method", "tools/call", "--tool-name", "sequential_thinking", "--tool-args-json", `{"response": "no link"}`)
			out, _ := refused.CombinedOutput() // the inspector's exit code is not part of the test
			if !strings.Contains(string(out), "WIKILINK_REQUIRED") {
				t.Errorf("refused call: got %s", out)
			}
		})
	}
}

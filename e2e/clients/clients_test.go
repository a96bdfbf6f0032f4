// Package clients tests the program with third-party MCP clients.
package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// One client records a chain with a revision and two branches. Its server is
// killed. Another client continues the session and reads the chain.
func TestContinueAfterKill(t *testing.T) {
	t.Parallel()
	inspector, server, node := inspector(t), programtest.Build(t), programtest.Node(t, "../node_modules")
	for _, era := range []string{"legacy", "auto", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			store := filepath.Join(t.TempDir(), "sequent.db")
			calls := `[
				{"thought": "Orders fail at noon.", "thoughtNumber": 1, "totalThoughts": 5, "nextThoughtNeeded": true},
				{"thought": "The database is slow.", "thoughtNumber": 2, "totalThoughts": 5, "nextThoughtNeeded": true, "sessionId": "$ID"},
				{"thought": "Noon is when reports run.", "thoughtNumber": 3, "totalThoughts": 5, "nextThoughtNeeded": true, "sessionId": "$ID"},
				{"thought": "The database is idle; the pool is empty.", "thoughtNumber": 4, "totalThoughts": 5, "nextThoughtNeeded": true, "sessionId": "$ID", "isRevision": true, "revisesThought": 2},
				{"thought": "Enlarge the pool.", "thoughtNumber": 4, "totalThoughts": 5, "nextThoughtNeeded": true, "sessionId": "$ID", "branchFromThought": 3, "branchId": "larger"},
				{"thought": "Move the reports.", "thoughtNumber": 4, "totalThoughts": 5, "nextThoughtNeeded": true, "sessionId": "$ID", "branchFromThought": 3, "branchId": "later"}
			]`
			record := exec.Command(node, append([]string{"record.mjs", era}, server, "serve", "--store", store)...)
			record.Stdin = strings.NewReader(calls)
			var replies []struct {
				SessionID     string
				ThoughtNumber int
			}
			if err := json.Unmarshal(programtest.Output(t, record), &replies); err != nil {
				t.Fatal(err)
			}
			if last := replies[len(replies)-1]; last.ThoughtNumber != 4 {
				t.Errorf("got last reply %+v", last)
			}

			inspect := func(tool, args string) string {
				t.Helper()
				cmd := exec.Command(node, inspector, "--cli", server, "serve", "--store", store,
					"--protocol-era", era, "--method", "tools/call", "--tool-name", tool,
					"--tool-args-json", args, "--format", "json")
				var result struct {
					Result struct{ Content []struct{ Text string } }
				}
				out := programtest.Output(t, cmd)
				if err := json.Unmarshal(out, &result); err != nil || len(result.Result.Content) != 1 {
					t.Fatalf("%v: the inspector printed %s", err, out)
				}
				return result.Result.Content[0].Text
			}
			id := `"sessionId": "` + replies[0].SessionID + `"`
			got := inspect("sequentialthinking", `{"thought": "So: the reports starve the pool.", "nextThoughtNeeded": false, `+id+`}`)
			if got != `{"thoughtNumber":5,"notice":"There is no verdict on larger, later. Add chooses or rejects."}` {
				t.Errorf("thought of the other client: got %s", got)
			}
			chain := inspect("recall_thinking", `{`+id+`}`)
			for text, want := range map[string]bool{
				"Orders fail at noon.":                     true,
				"The database is slow.":                    false, // revised
				"The database is idle; the pool is empty.": true,
				"Noon is when reports run.":                true,
				"So: the reports starve the pool.":         true,
				"later#4 (undecided) Move the reports.":    true,
			} {
				if strings.Contains(chain, text) != want {
					t.Errorf("chain contains %q: %v, want %v\n%s", text, !want, want, chain)
				}
			}
			if branch := inspect("recall_thinking", `{"branchId": "later", `+id+`}`); !strings.Contains(branch, "Move the reports.") {
				t.Errorf("got branch %s", branch)
			}
		})
	}
}

// The published schemas pass the inspector's linter.
func TestDefinitionsAreStrict(t *testing.T) {
	t.Parallel()
	inspector, server, node := inspector(t), programtest.Build(t), programtest.Node(t, "../node_modules")
	for _, dialect := range (app.Config{}).Names() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(node, inspector, "--cli", server, "serve", "--store", "memory", "--dialect", dialect,
				"--method", "tools/list", "--strict", "--format", "json")
			cmd.Env = append(cmd.Environ(), "SEQUENT_VAULT="+t.TempDir())
			if out := programtest.Output(t, cmd); !regexp.MustCompile(`"sequential_?thinking"`).Match(out) {
				t.Errorf("tools/list printed %s", out)
			}
		})
	}
}

// inspector returns the path of the MCP Inspector.
func inspector(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../node_modules/.bin/mcp-inspector")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		needtest.Missing(t, "the npm packages of e2e are not installed", "run make npm")
	}
	return path
}

// Package conformance tests the program with the official conformance suite of MCP.
package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

const suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"

// TestProgram runs the suite for both revisions. The expected failures need tools,
// prompts and resources that no dialect has; an expected failure that passes is an
// error.
func TestProgram(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(suite); err != nil {
		needtest.Missing(t, "the conformance suite is not installed", "run make npm")
	}
	server, node := programtest.Build(t), programtest.Node(t, "node_modules")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			url := programtest.ServeHTTP(t, server, "--store", filepath.Join(t.TempDir(), "sequent.db"))
			results := t.TempDir()
			known := "expected-failures-" + revision + ".yml"
			out, err := exec.Command(node, suite, "server", "--url", url, "--requirements", revision,
				"--expected-failures", known, "--output-dir", results).CombinedOutput()
			if err != nil {
				t.Errorf("conformance suite: %v\n%s", err, out)
			}
			for _, e := range entries(t, known) {
				e.check(t, results)
			}
		})
	}
}

// An entry is an expected failure and the missing fixture that causes it.
type entry struct{ scenario, id, kind, fixture string }

// entries reads a file of expected failures.
func entries(t *testing.T, path string) []entry {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var es []entry
	for _, m := range regexp.MustCompile(`(?m)^  - ([\w-]+)(?::([\w-]+))? *# (tool|prompt|resource) ([\w:/-]+)`).FindAllStringSubmatch(string(data), -1) {
		es = append(es, entry{m[1], m[2], m[3], m[4]})
	}
	if n := strings.Count(string(data), "\n  - "); len(es) != n || n == 0 {
		t.Fatalf("%s: %d of %d entries name their missing fixture", path, len(es), n)
	}
	return es
}

// unnamed has the messages of scenarios that do not name the missing fixture.
var unnamed = map[string]string{
	"resources-read-text":                          "Resource not found",
	"resources-read-binary":                        "Resource not found",
	"resources-templates-read":                     "Resource not found",
	"resources-subscribe":                          `Resource not found`,
	"resources-unsubscribe":                        `Resource not found`,
	"input-required-result-multi-round":            "Expected InputRequiredResult with inputRequests and requestState",
	"input-required-result-tampered-state":         "could not get initial InputRequiredResult",
	"input-required-result-missing-input-response": "returned JSON-RPC error instead of re-requesting",
}

// check checks that the scenario failed, and only because of the missing fixture.
func (e entry) check(t *testing.T, results string) {
	t.Helper()
	want := []string{
		fmt.Sprintf("unknown %s %q", e.kind, e.fixture),
		fmt.Sprintf("server does not list the diagnostic tool '%s'", e.fixture),
	}
	if u, ok := unnamed[e.scenario]; ok {
		want = []string{u}
	}
	paths, err := filepath.Glob(filepath.Join(results, "server-"+e.scenario+"-2*", "checks.json"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: got results %q, want one", e.scenario, paths)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(data, &checks); err != nil {
		t.Fatalf("%s: %v: %s", e.scenario, err, data)
	}
	failed := 0
	for _, c := range checks {
		if c.Status != "FAILURE" && c.Status != "WARNING" || e.id != "" && c.ID != e.id {
			continue
		}
		failed++
		if !strings.Contains(c.ErrorMessage, want[0]) && !strings.Contains(c.ErrorMessage, want[len(want)-1]) {
			t.Errorf("%s, %s failed with %q, want one of %q", e.scenario, c.ID, c.ErrorMessage, want)
		}
	}
	if failed == 0 {
		t.Errorf("%s %s did not fail: %s", e.scenario, e.id, data)
	}
}

// Package conformance tests the server with the official suite of MCP: the binary
// with every dialect, and a dialect with the suite's own fixtures.
package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/needtest"
)

const suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"

var revisions = []string{"2025-11-25", "2026-07-28"}

// needSuite returns Node.js, or skips the test if the suite is not installed.
func needSuite(t *testing.T) (node string) {
	t.Helper()
	if _, err := os.Stat(suite); err != nil {
		needtest.Missing(t, "the conformance suite is not installed", "run make npm")
	}
	return programtest.Node(t, "node_modules")
}

// The suite asks for fixtures that no dialect has. Its requirements of both
// revisions hold but for these.
func TestProgram(t *testing.T) {
	t.Parallel()
	node, server := needSuite(t), programtest.Build(t)
	url := programtest.ServeHTTP(t, server, "--store", filepath.Join(t.TempDir(), "sequent.db"), "--vault", t.TempDir())
	for _, dialect := range (app.Config{}).Names() {
		for _, revision := range revisions {
			t.Run(dialect+" "+revision, func(t *testing.T) {
				t.Parallel()
				run(t, node, url+"/"+dialect, revision, nil)
			})
		}
	}
}

// run runs the suite with the requirements of one revision. Fixtures are those
// that the server has. An expected failure that does not fail, or that fails for
// another reason than the one that is listed, is an error too.
func run(t *testing.T, node, url, revision string, fixtures []string) {
	known := slices.DeleteFunc(entries(t, revision), func(e entry) bool { return slices.Contains(fixtures, e.fixture) })
	missing := undeclared(t, url)
	for _, e := range optional {
		if missing[e.needs] && slices.Contains(e.revisions, revision) {
			known = append(known, entry{scenario: e.scenario, id: e.id})
		}
	}
	var baseline strings.Builder
	baseline.WriteString("server:\n")
	for _, e := range known {
		baseline.WriteString("  - " + strings.TrimSuffix(e.scenario+":"+e.id, ":") + "\n")
	}
	results := t.TempDir()
	file := filepath.Join(t.TempDir(), "expected-failures.yml")
	if err := os.WriteFile(file, []byte(baseline.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), node, suite, "server", "--url", url, "--requirements", revision,
		"--expected-failures", file, "--output-dir", results).CombinedOutput()
	if err != nil {
		t.Errorf("the suite ends with %v\n%s", err, out)
	}
	for _, e := range known {
		e.check(t, results, missing)
	}
}

// optional are the scenarios that a server fails which does not declare something:
// they call its methods, which are not found then.
var optional = []struct {
	needs, scenario, id string
	revisions           []string
}{
	{"prompts", "prompts-list", "", revisions},
	{"prompts", "caching", "sep-2549-prompts-list-caching-hints", revisions[1:]},
	{"resources", "resources-list", "", revisions},
	{"resources", "caching", "sep-2549-resources-list-caching-hints", revisions[1:]},
	{"resources", "caching", "sep-2549-resources-templates-list-caching-hints", revisions[1:]},
	{"resources", "sep-2164-resource-not-found", "", revisions[1:]},
}

// undeclared returns which capabilities a server does not declare.
func undeclared(t *testing.T, url string) map[string]bool {
	t.Helper()
	const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(discover))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"server/discover"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Result struct {
			Capabilities map[string]json.RawMessage `json:"capabilities"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &reply); err != nil || reply.Result.Capabilities["tools"] == nil {
		t.Fatalf("%v: discover says %s", err, body)
	}
	missing := make(map[string]bool)
	for _, name := range []string{"completions", "logging", "prompts", "resources"} {
		missing[name] = reply.Result.Capabilities[name] == nil
	}
	return missing
}

// An entry is an expected failure and what is missing: a tool, prompt, resource or
// method, or if fixture is empty a capability.
type entry struct{ scenario, id, kind, fixture string }

// entries reads the file of expected failures of a revision.
func entries(t *testing.T, revision string) []entry {
	t.Helper()
	path := "expected-failures-" + revision + ".yml"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var es []entry
	for _, m := range regexp.MustCompile(`(?m)^  - ([\w-]+)(?::([\w-]+))? *# (tool|prompt|resource|method) ([\w:/-]+)`).FindAllStringSubmatch(string(data), -1) {
		es = append(es, entry{m[1], m[2], m[3], m[4]})
	}
	if n := strings.Count(string(data), "\n  - "); len(es) != n || n == 0 {
		t.Fatalf("%s: %d of %d entries say which fixture they miss", path, len(es), n)
	}
	return es
}

// unnamed are the ways in which the suite says that a fixture is missing without
// its name.
var unnamed = map[string]string{
	"completion-complete":                          "no prompt or resource template has the argument",
	"resources-read-text":                          "Resource not found",
	"resources-read-binary":                        "Resource not found",
	"resources-templates-read":                     "Resource not found",
	"resources-subscribe":                          "Resource not found",
	"resources-unsubscribe":                        "Resource not found",
	"input-required-result-multi-round":            "Expected InputRequiredResult with inputRequests and requestState",
	"input-required-result-tampered-state":         "could not get initial InputRequiredResult",
	"input-required-result-missing-input-response": "returned JSON-RPC error instead of re-requesting",
}

// methods are those that are not found where a capability is not declared.
var methods = map[string][]string{
	"completions": {"completion/complete"},
	"logging":     {"logging/setLevel"},
	"prompts":     {"prompts/get", "prompts/list"},
	"resources":   {"resources/list", "resources/read", "resources/subscribe", "resources/templates/list", "resources/unsubscribe"},
}

// reasons returns the texts of which one is in each message of the failure.
func (e entry) reasons(missing map[string]bool) []string {
	reasons := []string{
		fmt.Sprintf("unknown %s %q", e.kind, e.fixture),
		fmt.Sprintf("server does not list the diagnostic tool '%s'", e.fixture),
	}
	if u, ok := unnamed[e.scenario]; ok {
		reasons = []string{u}
	}
	for name := range missing {
		if !missing[name] {
			continue
		}
		for _, method := range methods[name] {
			reasons = append(reasons, fmt.Sprintf("method not found: %q", method))
		}
	}
	if missing["resources"] && e.scenario == "sep-2164-resource-not-found" {
		reasons = append(reasons, "got -32601", "data.uri is undefined")
	}
	if (missing["resources"] || e.fixture == "test://watched-resource") && strings.HasPrefix(e.scenario, "resources-") {
		reasons = append(reasons, `method not found: "resources/subscribe"`, `method not found: "resources/unsubscribe"`)
	}
	return reasons
}

// check looks whether the suite failed for that reason and for nothing else.
func (e entry) check(t *testing.T, results string, missing map[string]bool) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(results, "server-"+e.scenario+"-2*", "checks.json"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: the results are %q", e.scenario, paths)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(data, &checks); err != nil {
		t.Fatalf("%s: %v: %s", e.scenario, err, data)
	}
	failed, reasons := 0, e.reasons(missing)
	for _, c := range checks {
		if c.Status != "FAILURE" && c.Status != "WARNING" || e.id != "" && c.ID != e.id {
			continue
		}
		failed++
		if !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(c.ErrorMessage, r) }) {
			t.Errorf("%s, %s fails with %q, want one of %q", e.scenario, c.ID, c.ErrorMessage, reasons)
		}
	}
	if failed == 0 {
		t.Errorf("%s %s does not fail: %s", e.scenario, e.id, data)
	}
}

package setup

import (
	"encoding/json"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/setup"
)

// agents names the clients that add-mcp knows too.
var agents = map[string]string{
	"claude-code": "claude-code", "claude-desktop": "claude-desktop", "cursor": "cursor", "vscode": "vscode", "codex": "codex",
	"gemini-cli": "gemini-cli", "zed": "zed", "windsurf": "windsurf", "opencode": "opencode", "copilot-cli": "github-copilot-cli",
	"kiro": "kiro-cli", "goose": "goose",
}

// The entries that add-mcp writes for a program and for a URL are in the files where setup
// expects them, say what those of setup say, and need no change except for the differences
// listed here.
func TestAddMCP(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the paths are those of Linux")
	}
	addMCP := npm(t, "add-mcp")
	const program, url = "/opt/sequent", "http://127.0.0.1:1/mcp"
	for _, project := range []bool{false, true} {
		for _, want := range []setup.Server{{Command: program, Args: []string{"serve"}}, {URL: url}} {
			theirs := newHome(t, "")
			args := []string{program, "--args", "serve"}
			if want.URL != "" {
				args = []string{url, "-t", "http"}
			}
			if !project {
				args = append(args, "-g")
			}
			var known []setup.Client
			for _, id := range slices.Sorted(maps.Keys(agents)) {
				c, _ := setup.Lookup(id)
				if (!project || c.Project != "") && (want.URL == "" || c.Remote()) {
					known = append(known, c)
					args = append(args, "-a", agents[id])
				}
			}
			if len(known) < 8 {
				t.Fatalf("only %d clients are known to both", len(known))
			}
			theirs.run(addMCP, append(args, "-y", "-n", setup.EntryName)...)
			for _, c := range known {
				compare(t, theirs.files(), c, project, want)
			}
		}
	}
}

// compare checks the entry of add-mcp against the one that setup would write.
func compare(t *testing.T, files setup.Setup, c setup.Client, project bool, want setup.Server) {
	t.Helper()
	if got, ok, err := files.Read(c, project); err != nil || !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%s, project %v: the entry of add-mcp says %+v, %v, %v; want %+v", c.ID, project, got, ok, err, want)
		return
	}
	change, err := files.Add(c, project, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range difference(t, change) {
		switch {
		case line == `+"type":"stdio"`: // optional in the file of Claude Code and VS Code, and written by them
		case c.ID == "gemini-cli" && (line == `-"type":"http"` || strings.HasSuffix(line, `rl":"http://127.0.0.1:1/mcp"`)): // httpUrl is read by older versions too
		default:
			t.Errorf("%s, project %v: setup changes the entry of add-mcp: %s", c.ID, project, line)
		}
	}
}

// difference returns the members of the entry that a change removes and adds, after - and +.
func difference(t *testing.T, change setup.Change) (lines []string) {
	t.Helper()
	members := make(map[string]bool)
	for _, line := range change.Diff() {
		var entry map[string]map[string]json.RawMessage
		if err := json.Unmarshal([]byte("{"+line[2:]+"}"), &entry); err != nil {
			t.Fatal(err)
		}
		for name, value := range entry[setup.EntryName] {
			member := `"` + name + `":` + string(value)
			if removed := "-" + member; line[0] == '+' && members[removed] {
				delete(members, removed)
			} else {
				members[line[:1]+member] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(members))
}

// add-mcp lists what setup has written.
func TestAddMCPList(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the paths are those of Linux")
	}
	addMCP, program := npm(t, "add-mcp"), programtest.Build(t)
	h := newHome(t, program, ".claude") // add-mcp takes the directory as the sign that it is installed
	args, list := []string{"setup", "--yes"}, []string{"list", "-g"}
	for id, agent := range agents {
		args = append(args, "--client", id)
		list = append(list, "-a", agent)
	}
	h.run(program, args...)
	if out := h.run(addMCP, list...); strings.Count(out, "/bin/sequent serve") != len(agents) {
		t.Errorf("add-mcp lists\n%s", out)
	}
	if out := h.run(program, "remove", "--yes", "--json"); strings.Count(out, `"action":"remove"`) != len(agents) {
		t.Errorf("remove printed %s", out)
	}
}

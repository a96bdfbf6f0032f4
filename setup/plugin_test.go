package setup

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// Rewrite is the flag that rewrites generated files.
var Rewrite = flag.Bool("update", false, "rewrite docs/clients.md and plugin")

// pluginFiles returns the plugin for Claude Code, Codex and the clients of Agent Plugins 1.0:
// the entry of the table, the skill and the hooks, with their manifests. Names are relative
// to the root of the repository.
func pluginFiles(t *testing.T) map[string]string {
	t.Helper()
	claude, _ := Lookup("claude-code")
	entry, err := Setup{}.Snippet(claude, true, Server{Command: "sequent", Args: []string{"serve"}})
	if err != nil {
		t.Fatal(err)
	}
	const summary = "Numbered thoughts that agents revise, branch and conclude, and read back after a restart or in another client."
	const author = `"The sequent authors"`
	about := "  \"name\": \"sequent\",\n  \"description\": \"" + summary + "\",\n  \"author\": {\n    \"name\": " + author + "\n  },\n" +
		"  \"homepage\": \"https://github.com/sequent-dev/sequent\",\n  \"license\": \"Apache-2.0\""
	market := "{\n  \"name\": \"sequent\",\n  \"description\": \"" + summary + "\",\n  \"owner\": {\n    \"name\": " + author + "\n  },\n" +
		"  \"plugins\": [{ \"name\": \"sequent\", \"source\": \"./plugin\", \"description\": \"" + summary + "\" }]\n}\n"
	schema := func(name string) string {
		return "{\n  \"$schema\": \"https://agent-plugins.org/schemas/1.0.0/" + name + ".schema.json\",\n"
	}
	codexMarket := `{
  "name": "sequent",
  "plugins": [
    {
      "name": "sequent",
      "source": { "source": "local", "path": "./plugin" },
      "policy": { "installation": "AVAILABLE", "authentication": "ON_INSTALL" },
      "category": "Productivity"
    }
  ]
}
`
	return map[string]string{
		".claude-plugin/marketplace.json":   market,
		"plugin/.claude-plugin/plugin.json": "{\n" + about + "\n}\n",
		".agents/plugins/marketplace.json":  codexMarket,
		"plugin/.codex-plugin/plugin.json":  "{\n" + about + ",\n  \"skills\": \"./skills/\",\n  \"mcpServers\": \"./.mcp.json\"\n}\n",
		"plugin/.mcp.json":                  entry,
		"plugin/plugin.json":                schema("plugin") + about + "\n}\n",
		"plugin/mcp.json":                   strings.Replace(entry, "{\n", schema("mcp"), 1),
		"plugin/hooks/hooks.json":           hooks,
		"plugin/skills/sequent/SKILL.md":    Skill,
	}
}

// hooks are those of the plugin, and of the settings in docs/first-session.md.
const hooks = `{
  "hooks": {
    "PostToolUse": [
      {"matcher": "mcp__.*sequential.*", "hooks": [{"type": "command", "command": "sequent hook post-tool-use"}]}
    ],
    "SessionStart": [
      {"matcher": "compact|resume", "hooks": [{"type": "command", "command": "sequent hook session-start"}]}
    ]
  }
}
`

// The settings that a page tells people to add are the hooks of the plugin.
func TestHooksInPage(t *testing.T) {
	if page := strings.ReplaceAll(get(t, filepath.Join("..", "docs", "first-session.md")), "\r\n", "\n"); !strings.Contains(page, "```json\n"+hooks+"```") {
		t.Error("docs/first-session.md has other hooks than the plugin")
	}
}

// The files for the clients of Agent Plugins 1.0 are valid by its published schemas.
func TestAgentPlugin(t *testing.T) {
	for _, name := range []string{"plugin", "mcp"} {
		var schema jsonschema.Schema
		if err := json.Unmarshal([]byte(get(t, filepath.Join("testdata", "agent-plugins-1.0.0", name+".schema.json"))), &schema); err != nil {
			t.Fatal(err)
		}
		if name == "plugin" { // its pattern has a lookahead, which Go's expressions lack; the name has neither -- nor ..
			schema.Properties["name"].Pattern = `^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$`
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var file any
		if err := json.Unmarshal([]byte(get(t, filepath.Join("..", "plugin", name+".json"))), &file); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(file); err != nil {
			t.Errorf("plugin/%s.json: %v", name, err)
		}
		file.(map[string]any)["unknown"] = true
		if resolved.Validate(file) == nil {
			t.Errorf("the schema of %s.json accepts an unknown member", name)
		}
	}
}

// TestReferencePlugin checks that the folder plugin says what the table of clients and the
// skill say.
func TestReferencePlugin(t *testing.T) {
	for name, want := range pluginFiles(t) {
		file := filepath.Join("..", filepath.FromSlash(name))
		if *Rewrite {
			put(t, file, want)
			if err := os.Chmod(file, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.ReplaceAll(get(t, file), "\r\n", "\n"); got != want {
			t.Errorf("%s is stale, run make generate", name)
		}
	}
}

package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// A clientFile is a configuration file of an MCP client.
type clientFile struct{ client, path string }

// clientFiles returns where the clients of docs/clients.md keep their configuration,
// for the user and for the project in the working directory.
func clientFiles() []clientFile {
	files := []clientFile{
		{"Claude Code", ".mcp.json"},
		{"Cursor", filepath.Join(".cursor", "mcp.json")},
		{"VS Code", filepath.Join(".vscode", "mcp.json")},
	}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files,
			clientFile{"Claude Code", filepath.Join(home, ".claude.json")},
			clientFile{"Cursor", filepath.Join(home, ".cursor", "mcp.json")},
			clientFile{"Gemini CLI", filepath.Join(home, ".gemini", "settings.json")},
			clientFile{"Windsurf", filepath.Join(home, ".codeium", "windsurf", "mcp_config.json")},
			clientFile{"Codex", filepath.Join(home, ".codex", "config.toml")},
			clientFile{"Zed", filepath.Join(home, ".config", "zed", "settings.json")},
		)
	}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files,
			clientFile{"Claude Desktop", filepath.Join(dir, "Claude", "claude_desktop_config.json")},
			clientFile{"VS Code", filepath.Join(dir, "Code", "User", "mcp.json")},
		)
	}
	return files
}

// clients checks that the programs exist that the configurations of clients name for
// this server.
func clients() (findings []diagnosis.Finding) {
	for _, f := range clientFiles() {
		text, err := os.ReadFile(f.path)
		if err != nil {
			continue // the client is not used
		}
		var commands []string
		if filepath.Ext(f.path) == ".toml" {
			commands = tomlCommands(string(text))
		} else {
			commands = jsonCommands(text)
		}
		slices.Sort(commands)
		for _, command := range slices.Compact(commands) {
			findings = append(findings, f.check(command))
		}
	}
	return findings
}

// check checks that a program exists.
func (f clientFile) check(command string) diagnosis.Finding {
	found, err := exec.LookPath(command)
	if err == nil {
		return diagnosis.Finding{Check: "client", Status: diagnosis.OK, Detail: fmt.Sprintf("%s starts %s (%s)", f.client, found, f.path)}
	}
	out := diagnosis.Finding{
		Check: "client", Status: diagnosis.Fail,
		Detail: fmt.Sprintf("%s starts %s, which does not exist or is not executable (%s)", f.client, command, f.path),
		Fix:    "write the full path of the program there; sequent demo prints the entry",
	}
	if !strings.ContainsAny(command, `/\`) { // the client may have another PATH
		out.Status = diagnosis.Warn
		out.Detail = fmt.Sprintf("%s starts %s, which is not on this PATH (%s)", f.client, command, f.path)
	}
	return out
}

// jsonCommands returns the commands of the entries for this server in a configuration.
// It returns none if the text is not JSON: some clients accept comments.
func jsonCommands(text []byte) (commands []string) {
	var all any
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	var visit func(v any)
	visit = func(v any) {
		object, _ := v.(map[string]any)
		for key, value := range object {
			servers, ok := value.(map[string]any)
			if !ok || !slices.Contains([]string{"mcpServers", "servers", "context_servers"}, key) {
				visit(value)
				continue
			}
			for name, server := range servers {
				entry, _ := server.(map[string]any)
				command, _ := entry["command"].(string)
				if nested, ok := entry["command"].(map[string]any); ok { // Zed
					command, _ = nested["path"].(string)
				}
				if command != "" && (name == "sequent" || isProgram(command)) {
					commands = append(commands, command)
				}
			}
		}
	}
	visit(all)
	return commands
}

var (
	tomlSection = regexp.MustCompile(`^\s*\[\s*mcp_servers\.(?:"([^"]+)"|([^\].\s]+))\s*\]`)
	tomlCommand = regexp.MustCompile(`^\s*command\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')`)
)

// tomlCommands is jsonCommands for Codex.
func tomlCommands(text string) (commands []string) {
	server := ""
	for line := range strings.Lines(text) {
		if m := tomlSection.FindStringSubmatch(line); m != nil {
			server = cmp.Or(m[1], m[2])
		} else if strings.HasPrefix(strings.TrimSpace(line), "[") {
			server = ""
		}
		m := tomlCommand.FindStringSubmatch(line)
		if m == nil || server == "" {
			continue
		}
		command := m[2]
		if m[1] != "" && json.Unmarshal([]byte(`"`+m[1]+`"`), &command) != nil { // the same escapes, nearly
			continue
		}
		if server == "sequent" || isProgram(command) {
			commands = append(commands, command)
		}
	}
	return commands
}

// isProgram reports whether a command is this program by its name.
func isProgram(command string) bool {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe") == "sequent"
}

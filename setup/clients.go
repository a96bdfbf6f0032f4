// Package setup writes the entry of the server into the configuration files of MCP
// clients, and takes it out again.
//
// It changes the bytes of its own entry only: comments, order and formatting of a file
// stay. A copy of the file before the change is kept. If the file is still what adding the
// entry makes of the copy, removing the entry puts the copy back, byte for byte; otherwise
// the entry is cut out. Every change is parsed before it is written; a file that does not
// parse is left alone.
//
// The package knows files and their formats. It starts nothing: its caller decides which
// program an entry names, and tests the entry.
package setup

import (
	"path/filepath"
	"slices"
	"strings"
)

// EntryName is the name of the server in the configuration of a client.
const EntryName = "sequent"

// A Format is the syntax of a configuration file.
type Format string

// The values of Format. JSON includes JSON with comments and trailing commas.
const (
	JSON Format = "JSON"
	TOML Format = "TOML"
	YAML Format = "YAML"
)

// The operating systems that have their own paths, as in runtime.GOOS. Every other
// system has the paths of Linux.
const (
	macOS   = "darwin"
	windows = "windows"
)

// A Client describes how one MCP client is configured.
//
// In paths, ~ is the home directory, $CONFIG the directory of the system for
// configuration (Linux: $XDG_CONFIG_HOME or ~/.config, macOS: ~/Library/Application
// Support, Windows: %APPDATA%), and $XDG is $XDG_CONFIG_HOME or ~/.config on every
// system. Slashes become those of the system.
type Client struct {
	ID   string // value of --client
	Name string // as its maker writes it

	Format  Format
	Servers string // key of the object of servers

	User    string // file for all projects
	Windows string // the same on Windows, if it differs
	Home    string // environment variable that replaces the directory of User; empty if there is none
	Other   string // name of a file that has priority over the one of User or Project if it exists
	Project string // file in a project; empty if the client has none

	Programs []string // programs of the client
	Dirs     []string // directories or files that show that the client is installed

	Reload string // how the client notices a new entry
	Skills string // directory of skills in the home directory and in a project; empty if the client is not known to have one

	shape shape
}

// clients is the table of all clients, in the order of the documentation.
var clients = []Client{
	{
		ID: "claude-code", Name: "Claude Code", Format: JSON, Servers: "mcpServers",
		User: "~/.claude.json", Home: "CLAUDE_CONFIG_DIR", Project: ".mcp.json",
		Programs: []string{"claude"}, Dirs: []string{"~/.claude", "~/.claude.json"},
		Reload: "start a new session", Skills: ".claude/skills",
		shape: shape{kind: "stdio", url: "url", remote: "http", bearer: "Bearer ${NAME}"},
	},
	{
		ID: "claude-desktop", Name: "Claude Desktop", Format: JSON, Servers: "mcpServers",
		User: "$CONFIG/Claude/claude_desktop_config.json",
		Dirs: []string{"$CONFIG/Claude"}, Reload: "quit and start it again",
	},
	{
		ID: "cursor", Name: "Cursor", Format: JSON, Servers: "mcpServers",
		User: "~/.cursor/mcp.json", Project: ".cursor/mcp.json",
		Programs: []string{"cursor"}, Dirs: []string{"~/.cursor"},
		Reload: "enable the server under Settings, Tools & MCP",
		shape:  shape{url: "url", bearer: "Bearer ${env:NAME}"},
	},
	{
		ID: "vscode", Name: "VS Code", Format: JSON, Servers: "servers",
		User: "$CONFIG/Code/User/mcp.json", Project: ".vscode/mcp.json",
		Programs: []string{"code"}, Dirs: []string{"$CONFIG/Code/User"},
		Reload: "start the server in the file or with MCP: List Servers",
		shape:  shape{kind: "stdio", url: "url", remote: "http", bearer: "Bearer ${env:NAME}"},
	},
	{
		ID: "vscode-insiders", Name: "VS Code Insiders", Format: JSON, Servers: "servers",
		User: "$CONFIG/Code - Insiders/User/mcp.json", Project: ".vscode/mcp.json",
		Programs: []string{"code-insiders"}, Dirs: []string{"$CONFIG/Code - Insiders/User"},
		Reload: "start the server in the file or with MCP: List Servers",
		shape:  shape{kind: "stdio", url: "url", remote: "http", bearer: "Bearer ${env:NAME}"},
	},
	{
		ID: "codex", Name: "Codex", Format: TOML, Servers: "mcp_servers",
		User: "~/.codex/config.toml", Home: "CODEX_HOME", Project: ".codex/config.toml",
		Programs: []string{"codex"}, Dirs: []string{"~/.codex"},
		Reload: "start a new session", Skills: ".agents/skills",
		shape: shape{url: "url", tokenKey: "bearer_token_env_var"},
	},
	{
		ID: "gemini-cli", Name: "Gemini CLI", Format: JSON, Servers: "mcpServers",
		User: "~/.gemini/settings.json", Project: ".gemini/settings.json",
		Programs: []string{"gemini"}, Dirs: []string{"~/.gemini"},
		Reload: "start a new session", Skills: ".agents/skills",
		shape: shape{url: "httpUrl", bearer: "Bearer ${NAME}"},
	},
	{
		ID: "zed", Name: "Zed", Format: JSON, Servers: "context_servers",
		User: "$XDG/zed/settings.json", Windows: "$CONFIG/Zed/settings.json", Project: ".zed/settings.json",
		Programs: []string{"zed", "zeditor"}, Dirs: []string{"$XDG/zed", "$CONFIG/Zed"},
		Reload: "it notices the change",
		shape:  shape{source: "custom", url: "url"},
	},
	{
		ID: "windsurf", Name: "Windsurf", Format: JSON, Servers: "mcpServers",
		User:     "~/.codeium/windsurf/mcp_config.json",
		Programs: []string{"windsurf"}, Dirs: []string{"~/.codeium/windsurf"},
		Reload: "refresh the servers in the Cascade panel",
		shape:  shape{url: "serverUrl", bearer: "Bearer ${env:NAME}"},
	},
	{
		ID: "opencode", Name: "OpenCode", Format: JSON, Servers: "mcp",
		User: "$XDG/opencode/opencode.json", Other: "opencode.jsonc", Project: "opencode.json",
		Programs: []string{"opencode"}, Dirs: []string{"$XDG/opencode"},
		Reload: "start a new session", Skills: ".agents/skills",
		shape: shape{kind: "local", joined: true, env: "environment", enabled: true, url: "url", remote: "remote", bearer: "Bearer {env:NAME}"},
	},
	{
		ID: "copilot-cli", Name: "Copilot CLI", Format: JSON, Servers: "mcpServers",
		User: "~/.copilot/mcp-config.json", Home: "COPILOT_HOME", Project: ".mcp.json",
		Programs: []string{"copilot"}, Dirs: []string{"~/.copilot"},
		Reload: "start a new session", Skills: ".agents/skills",
		shape: shape{kind: "stdio", tools: true, url: "url", remote: "http", bearer: "Bearer ${NAME}"},
	},
	{
		ID: "kiro", Name: "Kiro", Format: JSON, Servers: "mcpServers",
		User: "~/.kiro/settings/mcp.json", Project: ".kiro/settings/mcp.json",
		Programs: []string{"kiro", "kiro-cli"}, Dirs: []string{"~/.kiro"},
		Reload: "it notices the change",
		shape:  shape{url: "url", bearer: "Bearer ${NAME}"},
	},
	{
		ID: "goose", Name: "goose", Format: YAML, Servers: "extensions",
		User: "$XDG/goose/config.yaml", Windows: "$CONFIG/Block/goose/config/config.yaml",
		Programs: []string{"goose"}, Dirs: []string{"$XDG/goose", "$CONFIG/Block/goose"},
		Reload: "start a new session",
		shape: shape{
			name: true, command: "cmd", env: "envs", enabled: true, timeout: 300,
			kind: "stdio", url: "uri", remote: "streamable_http", bearer: "Bearer ${NAME}", tokenKeys: "env_keys",
		},
	},
}

// Clients returns all clients.
func Clients() []Client { return slices.Clone(clients) }

// Lookup returns the client with an ID.
func Lookup(id string) (Client, bool) {
	for _, c := range clients {
		if c.ID == id {
			return c, true
		}
	}
	return Client{}, false
}

// IDs returns the IDs of all clients.
func IDs() []string {
	ids := make([]string, len(clients))
	for i, c := range clients {
		ids[i] = c.ID
	}
	return ids
}

// Remote reports whether an entry of the client can name a server over HTTP.
func (c Client) Remote() bool { return c.shape.url != "" }

// Tokens reports whether an entry of the client can read a bearer token from the
// environment.
func (c Client) Tokens() bool { return c.shape.bearer != "" || c.shape.tokenKey != "" }

// Path returns the file for all projects as the documentation writes it, for an
// operating system as in runtime.GOOS.
func (c Client) Path(goos string) string {
	if goos == windows && c.Windows != "" {
		return c.Windows
	}
	return c.User
}

// A System is what the paths of clients depend on.
type System struct {
	OS       string // as in runtime.GOOS
	Home     string // home directory of the user
	Dir      string // working directory, the project
	Getenv   func(string) string
	LookPath func(program string) (string, error)
	Exists   func(path string) bool
}

// File returns the configuration file of a client: that of the project, or the one for
// all projects. It returns an empty string if the client has no file for projects.
func (s System) File(c Client, project bool) string {
	file := ""
	switch {
	case project && c.Project == "":
		return ""
	case project:
		file = filepath.Join(s.Dir, filepath.FromSlash(c.Project))
	default:
		file = s.expand(c.Path(s.OS))
		if dir := s.variable(c.Home); dir != "" {
			file = filepath.Join(dir, filepath.Base(file))
		}
	}
	if c.Other != "" {
		if other := filepath.Join(filepath.Dir(file), c.Other); s.Exists(other) {
			return other
		}
	}
	return file
}

// Installed reports whether the client seems to be installed: one of its programs is on
// the PATH, or one of its directories exists.
func (s System) Installed(c Client) bool {
	if dir := s.variable(c.Home); dir != "" && s.Exists(dir) {
		return true
	}
	return slices.ContainsFunc(c.Dirs, func(dir string) bool { return s.Exists(s.expand(dir)) }) ||
		slices.ContainsFunc(c.Programs, func(p string) bool { _, err := s.LookPath(p); return err == nil })
}

// variable returns the value of an environment variable if it is an absolute path.
func (s System) variable(name string) string {
	if name == "" {
		return ""
	}
	if value := s.Getenv(name); filepath.IsAbs(value) {
		return value
	}
	return ""
}

// expand returns a path of the table as a path of the system.
func (s System) expand(path string) string {
	first, rest, _ := strings.Cut(path, "/")
	xdg := s.variable("XDG_CONFIG_HOME")
	if xdg == "" {
		xdg = filepath.Join(s.Home, ".config")
	}
	base := ""
	switch first {
	case "~":
		base = s.Home
	case "$XDG":
		base = xdg
	case "$CONFIG":
		switch s.OS {
		case macOS:
			base = filepath.Join(s.Home, "Library", "Application Support")
		case windows:
			if base = s.variable("APPDATA"); base == "" {
				base = filepath.Join(s.Home, "AppData", "Roaming")
			}
		default:
			base = xdg
		}
	}
	return filepath.Join(base, filepath.FromSlash(rest))
}

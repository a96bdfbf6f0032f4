package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/draw"
)

// A launch is how an editor starts the server.
type launch struct {
	command string
	args    []string
	passing bool // the command is a binary that go run has made and will remove
}

// thisCommand returns how to start this very program as a server. The binary of
// go run is gone afterwards; then it is go run again, in the module's directory.
func thisCommand() launch {
	exe, err := os.Executable()
	if err != nil {
		return launch{command: "sequent", args: []string{"serve"}}
	}
	if !isPassing(exe) {
		return launch{command: exe, args: []string{"serve"}}
	}
	args := []string{"run", "github.com/sequent-dev/sequent/cmd/sequent@latest", "serve"}
	if dir, ok := moduleDir(); ok {
		args = []string{"-C", dir, "run", "./cmd/sequent", "serve"}
	}
	return launch{command: "go", args: args, passing: true}
}

// isPassing reports whether a binary lies where go run puts them: a directory
// for one build, or the cache of builds.
func isPassing(exe string) bool {
	if cache := os.Getenv("GOCACHE"); cache != "" {
		if rel, err := filepath.Rel(cache, exe); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(exe)), "/")
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(dir, "go-build") })
}

// name is how a person starts the program in a shell.
func (l launch) name() string {
	if l.passing {
		return "go run ./cmd/sequent"
	}
	found, err := exec.LookPath("sequent")
	if err == nil {
		here, _ := os.Stat(l.command)
		there, _ := os.Stat(found)
		if os.SameFile(here, there) {
			return "sequent"
		}
	}
	return quoted(l.command)
}

// moduleDir returns the directory of this module's source, if the program is run
// from within it.
func moduleDir() (string, bool) {
	dir, err := os.Getwd()
	for err == nil {
		text, missing := os.ReadFile(filepath.Join(dir, "go.mod"))
		if missing == nil {
			return dir, strings.HasPrefix(string(text), "module github.com/sequent-dev/sequent\n")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "", false
}

// with adds arguments to the server's.
func (l launch) with(args ...string) launch {
	l.args = append(l.args[:len(l.args):len(l.args)], args...)
	return l
}

// line is the command as it is typed in a shell.
func (l launch) line() string {
	words := []string{quoted(l.command)}
	for _, a := range l.args {
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}

func quoted(word string) string {
	if !strings.ContainsAny(word, " \t\"'$&;()<>|*?`!#~") {
		return word
	}
	return `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
}

// snippet is what most clients' configuration says of a server.
func snippet(l launch) string {
	var args []string
	for _, a := range l.args {
		args = append(args, inJSON(a))
	}
	return `{
  "mcpServers": {
    "sequent": {
      "command": ` + inJSON(l.command) + `,
      "args": [` + strings.Join(args, ", ") + `]
    }
  }
}`
}

func inJSON(s string) string {
	var b strings.Builder
	if err := writeJSON(&b, s); err != nil {
		panic(err) // it is a string
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by)
}

// editors tells how to add the server to the main clients. Commands and
// configuration are not broken into rows: they are there to be copied.
func editors(l launch, o draw.Options) []draw.Line {
	const by = "    "
	var lines []draw.Line
	client := func(name, text string) {
		lines = append(lines, draw.Beside(nil, name, draw.Label, o)...)
		for row := range strings.SplitSeq(text, "\n") {
			lines = append(lines, draw.Line{{Text: by + row}})
		}
		lines = append(lines, nil)
	}
	client("Claude Code", "claude mcp add --scope user sequent -- "+l.line())
	client("Codex", "codex mcp add sequent -- "+l.line())
	client("Cursor, Claude Desktop, Windsurf, Gemini CLI and most others", snippet(l))
	return append(lines, draw.Beside(nil, "in ~/.cursor/mcp.json, claude_desktop_config.json, ~/.codeium/windsurf/mcp_config.json, "+
		"~/.gemini/settings.json. VS Code wants it in .vscode/mcp.json as \"servers\" instead of \"mcpServers\", "+
		"Zed in its settings as \"context_servers\".", draw.Meta, o)...)
}

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/draw"
)

// A launch is the command line with which an editor starts the server.
type launch struct {
	command   string
	args      []string
	temporary bool // the program runs under go run, which deletes the binary when it exits
}

// thisCommand returns the command line that starts this program as a server. Under
// go run it is another go run, in the module's directory.
func thisCommand() launch {
	exe, err := os.Executable()
	if err != nil {
		return launch{command: "sequent", args: []string{"serve"}}
	}
	if !isTemporary(exe) {
		return launch{command: exe, args: []string{"serve"}}
	}
	pkg, module := mainPackage()
	args := []string{"run", pkg + "@latest", "serve"}
	if dir, ok := moduleDir(module); ok {
		args = []string{"-C", dir, "run", inModule(pkg, module), "serve"}
	}
	return launch{command: "go", args: args, temporary: true}
}

// mainPackage returns the package of this program and the path of its module.
func mainPackage() (pkg, module string) {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" && info.Main.Path != modulePath {
		return info.Path, info.Main.Path
	}
	return modulePath + "/cmd/sequent", modulePath
}

// inModule returns a package as the go command takes it in the module's directory.
func inModule(pkg, module string) string { return "." + strings.TrimPrefix(pkg, module) }

// isTemporary reports whether a binary is in a directory of go run: a build
// directory or the build cache.
func isTemporary(exe string) bool {
	if cache := os.Getenv("GOCACHE"); cache != "" {
		if rel, err := filepath.Rel(cache, exe); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(exe)), "/")
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(dir, "go-build") })
}

// name returns the command that starts the program in a shell.
func (l launch) name() string {
	if l.temporary {
		return "go run " + inModule(mainPackage())
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

// moduleDir returns the root of a module's source if the working directory is inside
// it.
func moduleDir(module string) (string, bool) {
	dir, err := os.Getwd()
	for err == nil {
		text, missing := os.ReadFile(filepath.Join(dir, "go.mod"))
		if missing == nil {
			return dir, strings.HasPrefix(string(text), "module "+module+"\n")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "", false
}

// with returns the launch with additional arguments.
func (l launch) with(args ...string) launch {
	l.args = append(l.args[:len(l.args):len(l.args)], args...)
	return l
}

// line returns the command line for a shell.
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

// snippet returns the configuration of a server in the form of most clients.
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
		panic(err) // a string always marshals
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by)
}

// editors describes how to add the server to the main clients. It does not wrap
// commands and configuration, so that they can be copied.
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
		"~/.gemini/settings.json. VS Code: in .vscode/mcp.json, with \"servers\" instead of \"mcpServers\". "+
		"Zed: in its settings, with \"context_servers\".", draw.Meta, o)...)
}

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/setup"
)

// next returns the command line with which a person runs a subcommand on the same sessions, as
// it can be pasted into a shell. Flags that the environment has set are left out.
func (p *program) next(words ...string) string {
	words = slices.Clip(words)
	switch {
	case p.server != "" && !slices.Contains(p.inherited, "server"):
		words = append(words, "--server", p.serverShown())
	case p.server == "" && p.store != "" && !slices.Contains(p.inherited, "store"):
		words = append(words, "--store", p.shownStore())
	}
	var line strings.Builder
	line.WriteString(selfName())
	for _, word := range words {
		line.WriteString(" " + quoted(word))
	}
	return line.String()
}

// nextFor is next for the sessions of an owner.
func (p *program) nextFor(owner string, words ...string) string {
	if owner != p.self && !slices.Contains(p.inherited, "owner") {
		words = append(slices.Clip(words), "--owner", owner)
	}
	return p.next(words...)
}

// advised matches the beginning of a command that a sentence of ours tells to run.
var advised = lazyregexp.New("([Rr]un |`)sequent ")

// runnable returns a sentence of ours in which "run sequent …" names the command that starts
// this program.
func runnable(sentence string) string {
	return advised().ReplaceAllStringFunc(sentence, func(begin string) string {
		return strings.TrimSuffix(begin, "sequent ") + selfName() + " " // which looks into the PATH
	})
}

// selfName returns the command that starts this program in a shell. Under go run, which
// deletes the binary when it exits, it is another go run in the module's directory.
func selfName() string {
	exe, err := os.Executable()
	if err != nil {
		return "sequent"
	}
	if setup.Temporary(exe, os.Getenv("GOCACHE")) {
		pkg, module := mainPackage()
		if path := inSource(module); path != "" {
			return "go run " + quoted(path+strings.TrimPrefix(pkg, module))
		}
	}
	if found, err := exec.LookPath("sequent"); err == nil && sameFile(found, exe) {
		return "sequent"
	}
	return quoted(exe)
}

// mainPackage returns the package of this program and the path of its module.
func mainPackage() (pkg, module string) {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" && info.Main.Path != modulePath {
		return info.Path, info.Main.Path
	}
	return modulePath + "/cmd/sequent", modulePath
}

// inSource returns the way from the working directory to the root of a module's source, such as
// "." or "../..", as the go command takes it; empty outside of the source.
func inSource(module string) string {
	dir, err := os.Getwd()
	for way := "."; err == nil; {
		text, missing := os.ReadFile(filepath.Join(dir, "go.mod"))
		if missing == nil {
			if !strings.HasPrefix(string(text), "module "+module+"\n") {
				break
			}
			return way
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir, way = parent, strings.TrimPrefix(way+"/..", "./")
	}
	return ""
}

// shortPath replaces the home directory with ~.
func shortPath(path string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && rest != "" && os.IsPathSeparator(rest[0]) {
		return "~" + rest
	}
	return path
}

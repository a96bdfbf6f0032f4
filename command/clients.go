package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/sequent-dev/sequent/setup"
)

// selfName returns the command that starts this program in a shell. Under go run, which
// deletes the binary when it exits, it is another go run in the module's directory.
func selfName() string {
	exe, err := os.Executable()
	if err != nil {
		return "sequent"
	}
	if setup.Temporary(exe, os.Getenv("GOCACHE")) {
		if pkg, module := mainPackage(); inSource(module) {
			return "go run " + inModule(pkg, module)
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

// inModule returns a package as the go command takes it in the module's directory.
func inModule(pkg, module string) string { return "." + strings.TrimPrefix(pkg, module) }

// inSource reports whether the working directory is inside a module's source.
func inSource(module string) bool {
	dir, err := os.Getwd()
	for err == nil {
		text, missing := os.ReadFile(filepath.Join(dir, "go.mod"))
		if missing == nil {
			return strings.HasPrefix(string(text), "module "+module+"\n")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return false
}

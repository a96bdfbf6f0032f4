package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/setup"
)

// findProgram decides which program entries name. The name on the PATH outlives an update by a
// package manager, which moves the file. A program that does not stay where it is is copied.
// Others have a project elsewhere, so that its entry has the name alone.
func (j *setupJob) findProgram() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	data, err := app.DataDir()
	if err != nil {
		return err
	}
	own := setup.ProgramFile(data)
	j.installed = own
	found, missing := exec.LookPath(setup.EntryName)
	isThis := missing == nil && filepath.IsAbs(found) && sameFile(found, exe)
	temporary := setup.Temporary(exe, os.TempDir(), j.getenv("GOCACHE"))
	switch {
	case sameFile(exe, own):
	case isThis && !temporary:
		j.installed = found
	case temporary || j.inFiles:
		j.source = exe
	default:
		j.installed = exe
	}
	// A link in ~/.local/bin makes a copy a command, if that is on the PATH. Windows has no links that
	// every user may make.
	bin := filepath.Join(j.files.System.Home, ".local", "bin")
	onPath := slices.ContainsFunc(filepath.SplitList(j.getenv("PATH")), func(dir string) bool { return filepath.Clean(dir) == bin })
	if j.installed == own && (missing != nil || isThis && temporary) && onPath && runtime.GOOS != "windows" {
		j.link = filepath.Join(bin, setup.EntryName)
	}
	j.server.Command = j.installed
	if j.inFiles {
		j.server.Command = setup.EntryName
	}
	return nil
}

// install puts the program where entries find it.
func (j *setupJob) install() error {
	if j.source != "" {
		if err := setup.Install(j.source, j.installed); err != nil {
			return fmt.Errorf("copy this program: %w", err)
		}
	}
	if j.link != "" {
		if _, err := setup.Link(j.installed, j.link); err != nil {
			return fmt.Errorf("link this program: %w", err)
		}
	}
	return nil
}

// unlink removes the link that setup has made in a directory of the PATH.
func (j *setupJob) unlink() error {
	data, err := app.DataDir()
	if err != nil {
		return err
	}
	link := filepath.Join(j.files.System.Home, ".local", "bin", setup.EntryName)
	removed, err := setup.Unlink(setup.ProgramFile(data), link)
	if removed && !j.json {
		j.failed(j.printf("Removed the link %s.", shortPath(link)))
	}
	return err
}

// called returns the command that starts the installed program in this shell.
func (j *setupJob) called() string {
	if j.installed == "" {
		return selfName()
	}
	if found, err := exec.LookPath(setup.EntryName); err == nil && sameFile(found, j.installed) {
		return setup.EntryName
	}
	return quoted(j.installed)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// Package setup tests sequent setup with the clients themselves, and with another program
// that writes their configuration.
package setup

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/setup"
)

// A home is the home directory of a person, with a project in it.
type home struct {
	t       *testing.T
	dir     string
	program string
	env     []string
}

func newHome(t *testing.T, program string, dirs ...string) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), program: program}
	h.env = []string{
		"HOME=" + h.dir, "USERPROFILE=" + h.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"XDG_DATA_HOME=" + filepath.Join(h.dir, "data"), "NO_COLOR=1", "CI=1", "LANG=C.UTF-8",
	}
	for _, dir := range append(dirs, "project") {
		if err := os.MkdirAll(filepath.Join(h.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *home) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(h.t.Context(), 3*time.Minute)
	h.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(h.dir, "project")
	cmd.Env = h.env
	return cmd
}

// run runs a command there, which must succeed, and returns what it prints on standard
// output.
func (h *home) run(name string, args ...string) string {
	h.t.Helper()
	return string(programtest.Output(h.t, h.command(name, args...)))
}

// files returns access to the configuration of clients.
func (h *home) files() setup.Setup {
	return setup.Setup{System: setup.System{
		OS: "linux", Home: h.dir, Dir: filepath.Join(h.dir, "project"),
		Getenv:   func(string) string { return "" },
		LookPath: exec.LookPath,
		Exists:   func(path string) bool { _, err := os.Stat(path); return err == nil },
	}}
}

// npm returns the path of a program of the npm packages of this directory.
func npm(t *testing.T, name string) string {
	t.Helper()
	needtest.Program(t, "node", "install Node.js 20 or newer")
	path, err := filepath.Abs(filepath.Join("node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		needtest.Missing(t, "the npm packages of e2e/setup are not installed", "run make npm")
	}
	return path
}

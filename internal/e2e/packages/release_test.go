// Package packages tests the files of a release: each is installed from its file in an empty
// home directory, and what is installed speaks MCP.
package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// The version of the release that these tests install.
const (
	version = "v0.9.1-test"
	number  = "0.9.1-test"
)

var built struct {
	sync.Once
	work, dir, commit string
	err               error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.work != "" {
		_ = os.RemoveAll(built.work)
	}
	os.Exit(code)
}

// release returns the directory of a release of the work tree, with changes that are not
// committed. It is built once.
func release(t *testing.T) string {
	t.Helper()
	needtest.Program(t, "git", "install git")
	built.Do(func() { built.err = build() })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

func build() error {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		return err
	}
	if built.work, err = os.MkdirTemp("", "packages"); err != nil {
		return err
	}
	source := filepath.Join(built.work, "source")
	built.dir = filepath.Join(built.work, "release")
	listed, err := run(root, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(listed, "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, but not committed yet
		}
		if err != nil {
			return err
		}
		file := filepath.Join(source, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, content, info.Mode()); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "--all"},
		{"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=test"},
	} {
		if _, err := run(source, "git", args...); err != nil {
			return err
		}
	}
	if _, err = run(root, "go", "run", "./internal/release", "-quick", "-version", version, "-C", source, "-out", built.dir); err != nil {
		return err
	}
	return nil
}

func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// A home is an empty home directory.
type home struct {
	t   *testing.T
	dir string
	env []string
}

// newHome makes a home directory, with a PATH of these directories and of the shell's usual
// programs, and with no other variables of this process.
func newHome(t *testing.T, path ...string) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir()}
	h.env = []string{
		"HOME=" + h.dir, "USERPROFILE=" + h.dir, "PATH=" + strings.Join(append(path, "/usr/bin", "/bin"), string(os.PathListSeparator)),
		"TMPDIR=" + os.TempDir(), "NO_COLOR=1", "CI=1", "LANG=C.UTF-8",
	}
	return h
}

func (h *home) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), name, args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	return cmd
}

// run runs a command that must succeed, and returns what it prints on standard output.
func (h *home) run(name string, args ...string) string {
	h.t.Helper()
	return string(programtest.Output(h.t, h.command(name, args...)))
}

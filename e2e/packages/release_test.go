// Package packages tests the files of a release: each is installed from its file in an empty
// home directory, and what is installed speaks MCP.
package packages

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// The version of the release that these tests install, and the same without the v.
var version, number = "v0.9.1-test", "0.9.1-test"

var built struct {
	sync.Once
	work, dir string
	err       error
}

// SEQUENT_RELEASE is the directory of a release to test. Without it the tests build one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SEQUENT_RELEASE"); dir != "" {
		var server struct{ Version string }
		text, err := os.ReadFile(filepath.Join(dir, "server.json"))
		if err == nil {
			err = json.Unmarshal(text, &server)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "SEQUENT_RELEASE:", err)
			os.Exit(1)
		}
		version, number = "v"+server.Version, server.Version
		built.Do(func() { built.dir = dir })
	}
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
	root, err := filepath.Abs(filepath.Join("..", ".."))
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
	if _, err = run(filepath.Join(root, "tools"), "go", "run", "./release", "-version", version, "-C", source, "-out", built.dir); err != nil {
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

// look returns the path of a program on the PATH of the home, which is not that of the test.
func (h *home) look(name string) string {
	h.t.Helper()
	if strings.ContainsRune(name, filepath.Separator) {
		return name
	}
	for _, v := range slices.Backward(h.env) { // the last one counts
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				if file := filepath.Join(dir, name); isExecutable(file) {
					return file
				}
			}
		}
	}
	h.t.Fatalf("%s is not on the PATH", name)
	return ""
}

func isExecutable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func (h *home) command(name string, args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), h.look(name), args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	return cmd
}

// run runs a command that must succeed, and returns what it prints on standard output.
func (h *home) run(name string, args ...string) string {
	h.t.Helper()
	return string(programtest.Output(h.t, h.command(name, args...)))
}

package docs

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A clone is a fresh clone of this checkout, with its uncommitted changes, below a path with a
// blank, and the empty home of the user who made it. Modules and build results come from the
// caches of this machine.
type clone struct {
	*home
	tree  string
	cache []string
}

func newClone(t *testing.T) *clone {
	t.Helper()
	needtest.Long(t)
	git := needtest.Program(t, "git", "install git")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		needtest.Missing(t, "this is no checkout of git", "clone the repository")
	}
	dir := t.TempDir()
	c := &clone{home: &home{t: t, dir: filepath.Join(dir, "home")}, tree: filepath.Join(dir, "a clone")}
	c.program = filepath.Join(c.dir, "go", "bin", "sequent")
	if runtime.GOOS == "windows" {
		c.program += ".exe"
	}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(programtest.Output(t, exec.Command("go", "env", "GOMODCACHE", "GOCACHE"))))
	// Without -trimpath every package would be compiled again for each new directory.
	c.cache = []string{"GOMODCACHE=" + caches[0], "GOCACHE=" + caches[1], "GOPATH=", "GOBIN=", "GOFLAGS=-trimpath", "GOPROXY=off"}

	source := filepath.Join(dir, "source")
	files := programtest.Output(t, exec.Command(git, "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"))
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		copyFile(t, filepath.Join(root, name), filepath.Join(source, name))
	}
	for _, args := range [][]string{
		{"-C", source, "init", "--quiet"},
		{"-C", source, "add", "--all"},
		{"-C", source, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=all"},
		{"clone", "--quiet", source, c.tree},
	} {
		programtest.Output(t, exec.Command(git, args...))
	}
	return c
}

// copyFile copies a file with its mode. A file that was deleted is left out.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Lstat(from)
	if os.IsNotExist(err) {
		return
	}
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		t.Fatalf("%s is a symbolic link", from)
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, text, info.Mode().Perm())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// start runs a command in the clone, with more environment, and returns what it prints. An
// empty value in the environment removes the variable.
func (c *clone) start(command string, env ...string) (string, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Minute)
	defer cancel()
	args := words(command)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = c.tree
	cmd.Env = append(append(c.home.env(), c.cache...), env...)
	for _, e := range env {
		if name, ok := strings.CutSuffix(e, "="); ok {
			cmd.Env = slices.DeleteFunc(cmd.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must runs a command in the clone, which must succeed and print the words.
func (c *clone) must(command, want string, env ...string) {
	c.t.Helper()
	if out, err := c.start(command, env...); err != nil || !strings.Contains(out, want) {
		c.t.Errorf("%s %q: %v, want %q in\n%s", command, env, err, want, out)
	}
}

// refused runs a command in the clone, which must fail and print the words.
func (c *clone) refused(command, want string, env ...string) {
	c.t.Helper()
	if out, err := c.start(command, env...); err == nil || !strings.Contains(out, want) {
		c.t.Errorf("%s %q: %v, want a failure with %q in\n%s", command, env, err, want, out)
	}
}

const (
	runDemo  = "go run ./cmd/sequent demo"
	runSetup = "go run ./cmd/sequent setup"
	drawn    = "Conclusion: the fraud check inside the transaction"
)

// The commands of the first two pages work in a fresh clone with an empty home, in their
// order, but for those that need a publication.
func TestFreshClone(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "make", "install make")
	c := newClone(t)
	published := regexp.MustCompile(`(?s)<!-- begin published .*?<!-- end published -->\n`)
	var ran []string
	for _, name := range []string{"../README.md", "install.md"} {
		for _, command := range commands(published.ReplaceAllString(page(t, name), "")) {
			ran = append(ran, command)
			args, isProgram := strings.CutPrefix(command, "sequent ")
			switch {
			case isProgram:
				if c.session == "" {
					c.session = c.field("id", "list", "--json")
				}
				c.try(words(args))
			case command == "make test":
				c.must("make -n test", "go test")
			case command == runDemo:
				c.must(command, drawn)
			case command == runSetup:
				if _, err := os.Stat(filepath.Join(c.dir, ".cursor")); err != nil {
					c.refused(command, "--client")
					if err := os.Mkdir(filepath.Join(c.dir, ".cursor"), 0o700); err != nil { // Cursor is installed
						t.Fatal(err)
					}
				}
				c.must(command+" --yes", "sequentialthinking") // there is no terminal to ask at
			default:
				c.must(command, "")
			}
		}
	}
	for _, want := range []string{runDemo, "make test", runSetup, "go install ./cmd/sequent", "sequent doctor", "sequent remove --all"} {
		if !slices.Contains(ran, want) {
			t.Errorf("the pages have the commands %q, without %q", ran, want)
		}
	}

	c.must(runDemo, drawn, "GOFLAGS=-trimpath -mod=mod")
	if out, err := c.start("git status --porcelain"); err != nil || out != "" {
		t.Errorf("the commands change the checkout: %v\n%s", err, out)
	}

	// git treats the checkout as that of another user. The page says what to do.
	const other = "GIT_TEST_ASSUME_DIFFERENT_OWNER=1"
	c.must(runDemo, drawn, other)
	c.refused("go install ./cmd/sequent", "error obtaining VCS status", other)
	c.must("go install -buildvcs=false ./cmd/sequent", "", other)

	if runtime.GOOS != "windows" {
		c.refused(runDemo, "set it, or pass --store PATH", "HOME=", "XDG_DATA_HOME=")
		c.must(runDemo+" --store demo.db", drawn, "HOME=", "XDG_DATA_HOME=")
		c.refused(runSetup, "set HOME", "HOME=", "XDG_DATA_HOME=")
	}

	// What git does not know, as in a downloaded archive.
	if err := os.RemoveAll(filepath.Join(c.tree, ".git")); err != nil {
		t.Fatal(err)
	}
	c.must(runDemo, drawn)
	if out, err := c.start("make -n test"); err != nil || strings.Contains(out, "fatal") {
		t.Errorf("make -n test without git: %v\n%.2000s", err, out)
	}
}

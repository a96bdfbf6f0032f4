package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// Projects, branches, commits and people are what git says of a directory, whatever repository
// its variables name.
func TestWorkTrees(t *testing.T) {
	program := needtest.Program(t, "git", "install git")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "gitconfig"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	run := func(in string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		if cmd.Dir = filepath.Join(dir, in); os.MkdirAll(cmd.Dir, 0o755) != nil {
			t.Fatal(cmd.Dir)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("", "config", "--global", "user.name", "Bob")
	run("", "config", "--global", "user.email", "bob@example.com")
	run("main", "init", "--quiet", "--initial-branch", "a/b")
	run("main", "commit", "--quiet", "--allow-empty", "--message", "one")
	run("main", "worktree", "add", "--quiet", "../side")
	run("main", "config", "user.name", "Ann")
	run("empty", "init", "--quiet", "--initial-branch", "trunk")
	run("detached", "init", "--quiet")
	run("detached", "commit", "--quiet", "--allow-empty", "--message", "two")
	run("detached", "checkout", "--quiet", "--detach")
	run("main/deep", "--version")
	run("none", "--version")
	for name, url := range map[string]string{
		"url": "https://alice:secret@example.com/a.git", "relative": "../a", "command": "ext::sh -c s3cret", "address": "git@github.com:a/b.git",
	} {
		run(name, "init", "--quiet")
		run(name, "remote", "add", "origin", url)
	}
	run("bare", "init", "--quiet", "--bare")
	t.Setenv("GIT_DIR", filepath.Join(dir, "empty", ".git"))
	for in, want := range map[string]struct {
		project, branch string
		commit          bool
		person          string
	}{
		"main":      {filepath.Join(dir, "main"), "a/b", true, "Ann"},
		"main/deep": {filepath.Join(dir, "main"), "a/b", true, "Ann"},
		"side":      {filepath.Join(dir, "main"), "side", true, "Ann"},
		"empty":     {filepath.Join(dir, "empty"), "trunk", false, "Bob"},
		"detached":  {filepath.Join(dir, "detached"), "", true, "Bob"},
		"none":      {"", "", false, "Bob"},
		"nosuch":    {},
	} {
		at := filepath.Join(dir, in)
		branch, commit := gitHead(at)
		if got := gitProject(at); got != want.project || branch != want.branch || (len(commit) == 40) != want.commit || Person(at) != want.person {
			t.Errorf("%s: got %q, %q, %q, %q", in, got, branch, commit, Person(at))
		}
	}
	for in, want := range map[string]string{
		"url": "https://alice:secret@example.com/a.git", "relative": filepath.Join(dir, "a"), "command": filepath.Join(dir, "command"),
		"address": "git@github.com:a/b.git", "bare": "",
	} {
		if got := gitProject(filepath.Join(dir, in)); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

package app

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// The commits since one are those of the only work tree of a project that calls have come from.
func TestCommitsSince(t *testing.T) {
	program := needtest.Program(t, "git", "install git")
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "gitconfig"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, key := range []string{"name", "email"} {
		run("config", "--global", "user."+key, "bob@example.com")
	}
	begin := func(name string) string {
		run("init", "--quiet", name)
		run("-C", name, "remote", "add", "origin", "https://bob:secret@example.com/a.git")
		run("-C", name, "commit", "--quiet", "--allow-empty", "--message", "one")
		return filepath.Join(dir, name)
	}
	const project = "https://example.com/a.git"
	one := begin("one")
	_, since := gitHead(one)
	run("-C", "one", "commit", "--quiet", "--allow-empty", "--message", "two")
	run("-C", "one", "commit", "--quiet", "--allow-empty", "--message", "three")

	var p projects
	if n, ok := p.commits(project, since); ok {
		t.Errorf("before a call, %d commits are known", n)
	}
	p.of(one)
	if n, ok := p.commits(project, since); n != 2 || !ok {
		t.Errorf("got %d commits, %v; want 2", n, ok)
	}
	for _, other := range []string{"", "HEAD~1", "--all", "0123456789012345678901234567890123456789"} {
		if n, ok := p.commits(project, other); ok {
			t.Errorf("since %q, %d commits are known", other, n)
		}
	}
	if n, ok := p.commits("https://example.com/b.git", since); ok {
		t.Errorf("of another project, %d commits are known", n)
	}
	p.of(begin("another"))
	if n, ok := p.commits(project, since); ok {
		t.Errorf("with two work trees, %d commits are known", n)
	}
}

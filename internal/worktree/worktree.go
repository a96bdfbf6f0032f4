// Package worktree asks git about the work tree of a directory. Without git nothing is known.
package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// timeout limits a run of git. It takes a few milliseconds, unless a disk does not answer.
const timeout = 5 * time.Second

// git returns what git prints about a directory, without white space around it; empty if it
// fails. Variables such as GIT_DIR, which a hook of git has, do not count: they may name
// another repository.
func git(dir string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = dir, timeout
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "GIT_CONFIG")
	})
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Project returns the project of the work tree in which a directory is: the URL of its remote
// repository origin as it is configured, with credentials if it has some, which the engine
// removes, or else the top directory. Further work trees of a repository have that of the
// first one. It returns "" outside of work trees.
func Project(dir string) string {
	top, common, ok := strings.Cut(git(dir, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"), "\n")
	if !ok {
		return ""
	}
	top = filepath.FromSlash(top)
	switch url := git(dir, "config", "--get", "remote.origin.url"); {
	case isCommand(url):
	case strings.HasPrefix(url, "./"), strings.HasPrefix(url, "../"):
		return filepath.Join(top, filepath.FromSlash(url))
	case url != "":
		return url
	}
	if main, ok := strings.CutSuffix(common, "/.git"); ok {
		return filepath.FromSlash(main)
	}
	return top
}

// Head returns the name of the branch and the commit that are checked out in a directory. The
// branch is empty for a detached HEAD, and the commit for a branch without one.
func Head(dir string) (branch, commit string) {
	return git(dir, "symbolic-ref", "--quiet", "--short", "HEAD"), git(dir, "rev-parse", "--quiet", "--verify", "HEAD")
}

// Person returns the name with which git would sign a commit in a directory; empty if it knows
// none.
func Person(dir string) string { return git(dir, "config", "--get", "user.name") }

// isCommand reports whether an address is an argument of a program, as in ext::COMMAND.
func isCommand(url string) bool {
	program, _, ok := strings.Cut(url, "::")
	return ok && !strings.ContainsAny(program, ":/\\@[")
}

package app

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// Workplace returns what is known of a directory: the project, branch and commit of its
// git work tree. Outside of work trees that is nothing.
func Workplace(dir string) sequent.Origin {
	o := sequent.Origin{Project: gitProject(dir)}
	if o.Project != "" {
		o.GitBranch, o.Commit = gitHead(dir)
	}
	return o
}

// projects remembers the projects of directories for a server, whose calls name the same ones
// again and again.
type projects struct {
	mu    sync.Mutex // guards known
	known map[string]knownProject
}

type knownProject struct {
	name  func() string // asks git once
	since time.Time
}

// Limits of what projects remembers.
const (
	maxProjects = 1000
	projectTTL  = time.Minute
)

// of implements [mcpserver.Place]. For the working directory, git is asked once.
func (p *projects) of(dir string) (project string, head func() (branch, commit string)) {
	p.mu.Lock()
	k, ok := p.known[dir]
	if !ok || dir != "" && time.Since(k.since) > projectTTL {
		if p.known == nil || len(p.known) >= maxProjects {
			p.known = make(map[string]knownProject)
		}
		k = knownProject{sync.OnceValue(func() string { return gitProject(dir) }), time.Now()}
		p.known[dir] = k
	}
	p.mu.Unlock()
	if project = k.name(); project == "" {
		return "", nil
	}
	return project, func() (branch, commit string) { return gitHead(dir) }
}

// commits counts the commits that are in the work tree of a project and not in the history of a
// commit; see [standard.Config]. They are not known if calls have come from none or several of its work
// trees, or if git does not know the commit.
func (p *projects) commits(project, since string) (n int, ok bool) {
	dir, ok := p.directory(project)
	if !ok || !commitName().MatchString(since) {
		return 0, false
	}
	n, err := strconv.Atoi(git(dir, "rev-list", "--count", "--max-count="+strconv.Itoa(maxCommits), since+"..HEAD"))
	return n, err == nil
}

// maxCommits limits how many commits are counted, because git reads each of them.
const maxCommits = 1000

// commitName matches what is a commit and no option of git.
var commitName = lazyregexp.New(`^[0-9a-f]{40,64}$`)

// directory returns the only known directory of a project.
func (p *projects) directory(project string) (dir string, ok bool) {
	p.mu.Lock()
	known := maps.Clone(p.known)
	p.mu.Unlock()
	n := 0
	for d, k := range known {
		if named := k.name(); named != "" && recorded(named) == project {
			dir = d
			n++
		}
	}
	return dir, n == 1
}

// recorded returns a project as sessions have it, which is without credentials.
func recorded(project string) string {
	o := sequent.Origin{Project: project}
	return sequent.OriginOf(sequent.WithOrigin(context.Background(), func() sequent.Origin { return o })).Project
}

// gitTimeout limits a run of git. It takes a few milliseconds, unless a disk does not answer.
const gitTimeout = 5 * time.Second

// git returns what git prints about a directory, without white space around it; empty if it
// fails. Variables such as GIT_DIR, which a hook of git has, do not count: they may name
// another repository.
func git(dir string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = dir, gitTimeout
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "GIT_CONFIG")
	})
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// gitProject returns the project of the work tree in which a directory is: the URL of its remote
// repository origin as it is configured, with credentials if it has some, which the engine
// removes, or else the top directory. Further work trees of a repository have that of the
// first one. It returns "" outside of work trees.
func gitProject(dir string) string {
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

// gitHead returns the name of the branch and the commit that are checked out in a directory. The
// branch is empty for a detached HEAD, and the commit for a branch without one.
func gitHead(dir string) (branch, commit string) {
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

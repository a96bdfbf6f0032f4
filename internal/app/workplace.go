package app

import (
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/worktree"
)

// Workplace returns what is known of a directory: the project, branch and commit of its
// git work tree. Outside of work trees that is nothing.
func Workplace(dir string) sequent.Origin {
	o := sequent.Origin{Project: worktree.Project(dir)}
	if o.Project != "" {
		o.GitBranch, o.Commit = worktree.Head(dir)
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
		k = knownProject{sync.OnceValue(func() string { return worktree.Project(dir) }), time.Now()}
		p.known[dir] = k
	}
	p.mu.Unlock()
	if project = k.name(); project == "" {
		return "", nil
	}
	return project, func() (branch, commit string) { return worktree.Head(dir) }
}

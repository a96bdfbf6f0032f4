package app

import (
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/worktree"
)

// Workplace returns what is known of a directory: the project, branch and commit of its
// git work tree. Outside of work trees that is nothing.
func Workplace(dir string) sequent.Context {
	tree := worktree.Find(dir)
	if tree == nil {
		return sequent.Context{}
	}
	return placed(tree, tree.Project())
}

func placed(tree *worktree.Tree, project string) sequent.Context {
	c := sequent.Context{Project: project}
	c.GitBranch, c.Commit = tree.Head()
	return c
}

// places is Workplace for a server, which asks for the same directories again and again. The
// branch and commit are always those of now.
type places struct {
	mu    sync.Mutex // guards known
	known map[string]knownPlace
}

type knownPlace struct {
	tree    *worktree.Tree // nil if there is none
	project string
	since   time.Time
}

// Limits of what places remembers.
const (
	maxPlaces = 1000
	placeTTL  = time.Minute
)

// of returns what is known of a directory; an empty one is the working directory, which
// is looked up once.
func (p *places) of(dir string) sequent.Context {
	k := p.find(dir)
	if k.tree == nil {
		return sequent.Context{}
	}
	return placed(k.tree, k.project)
}

func (p *places) find(dir string) knownPlace {
	now := time.Now()
	p.mu.Lock()
	k, ok := p.known[dir]
	p.mu.Unlock()
	if ok && (dir == "" || now.Sub(k.since) < placeTTL) {
		return k
	}
	k = knownPlace{tree: worktree.Find(dir), since: now}
	if k.tree != nil {
		k.project = k.tree.Project()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) >= maxPlaces {
		p.known = make(map[string]knownPlace)
	}
	p.known[dir] = k
	return k
}

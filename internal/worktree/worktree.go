// Package worktree finds the git work tree of a directory and reads its origin, branch and
// commit from the files of the repository. It does not run git, and it follows no include
// of a configuration.
package worktree

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Limits of what is read of a repository.
const (
	maxFile   = 1 << 20 // bytes of a file
	maxPacked = 1 << 28 // bytes of the list of packed references
	maxRefs   = 5       // references that follow each other
)

// A Tree is a git work tree. It is safe for concurrent use.
type Tree struct {
	dir    string // its top directory
	git    string // the directory with its HEAD
	common string // the directory that it shares with the other work trees of its repository

	mu             sync.Mutex // guards the fields below
	seen           []file     // from which branch and commit were read
	branch, commit string
}

// Find returns the work tree in which a directory is, or nil if there is none or its
// repository cannot be read.
func Find(dir string) *Tree {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for {
		if t := open(dir); t != nil {
			return t
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

// open returns the work tree whose top is a directory.
func open(dir string) *Tree {
	git := filepath.Join(dir, ".git")
	info, err := os.Stat(git)
	if err != nil {
		return nil
	}
	if !info.IsDir() { // of a submodule or a further work tree
		text, ok := strings.CutPrefix(line(git), "gitdir:")
		if !ok {
			return nil
		}
		git = below(dir, strings.TrimSpace(text))
	}
	t := &Tree{dir: dir, git: git, common: git}
	if _, err := read(filepath.Join(git, "HEAD"), maxFile); err != nil {
		return nil
	}
	if text := line(filepath.Join(git, "commondir")); text != "" {
		t.common = below(git, text)
	}
	return t
}

// below returns a path that a file in dir names.
func below(dir, path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// Project returns the URL of the remote repository origin as it is configured, with
// credentials if it has some; the engine removes them. If there is none, Project returns
// the top directory; further work trees of a repository have that of the first one.
func (t *Tree) Project() string {
	config, _ := read(filepath.Join(t.common, "config"), maxFile)
	switch url := origin(config); {
	case isCommand(url):
	case strings.HasPrefix(url, "./"), strings.HasPrefix(url, "../"):
		return below(t.dir, url)
	case url != "":
		return url
	}
	if t.common != t.git && filepath.Base(t.common) == ".git" {
		return filepath.Dir(t.common)
	}
	return t.dir
}

// Head returns the name of the branch and the commit that are checked out. The branch is
// empty for a detached HEAD, and the commit for a branch without one. Both are empty if
// the repository cannot be read.
func (t *Tree) Head() (branch, commit string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.seen {
		if !f.unchanged() {
			t.seen = nil
			break
		}
	}
	if t.seen == nil {
		t.branch, t.commit = t.readHead()
	}
	return t.branch, t.commit
}

func (t *Tree) readHead() (branch, commit string) {
	text := t.look(filepath.Join(t.git, "HEAD"))
	for n := range maxRefs {
		ref, ok := strings.CutPrefix(text, "ref:")
		if !ok {
			break
		}
		ref = strings.TrimSpace(ref)
		if !strings.HasPrefix(ref, "refs/") || !filepath.IsLocal(filepath.FromSlash(ref)) {
			return "", ""
		}
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && n == 0 && !strings.HasPrefix(name, ".") {
			branch = name
		}
		if text = t.look(filepath.Join(t.common, filepath.FromSlash(ref))); text == "" {
			text = t.packed(ref)
		}
	}
	if isHash(text) {
		commit = text
	}
	return branch, commit
}

// packed returns the commit of a reference in the list of packed ones, or "".
func (t *Tree) packed(ref string) string {
	path := filepath.Join(t.common, "packed-refs")
	t.seen = append(t.seen, stat(path))
	f, err := openRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxPacked))
	for lines.Scan() {
		if hash, name, ok := bytes.Cut(lines.Bytes(), []byte(" ")); ok && string(bytes.TrimSpace(name)) == ref {
			return string(hash)
		}
	}
	return ""
}

// look returns the first line of a file and remembers that it was read.
func (t *Tree) look(path string) string {
	t.seen = append(t.seen, stat(path)) // before it is read
	return line(path)
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// A file is the state of a file that was read.
type file struct {
	path string
	info fs.FileInfo // nil if there was none
}

func stat(path string) file {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	return file{path, info}
}

// unchanged reports whether a file is as it was. Git replaces the files that it changes.
func (f file) unchanged() bool {
	now := stat(f.path)
	if now.info == nil || f.info == nil {
		return now.info == nil && f.info == nil
	}
	return os.SameFile(now.info, f.info) && now.info.Size() == f.info.Size() && now.info.ModTime().Equal(f.info.ModTime())
}

// line returns the first line of a file, without white space around it; empty if there is
// none.
func line(path string) string {
	text, err := read(path, maxFile)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}

var errSpecial = errors.New("not a regular file")

// openRegular opens a regular file. To open a pipe could block for ever.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errSpecial
	}
	return os.Open(path)
}

// read returns at most limit bytes of a file.
func read(path string, limit int64) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit))
	return string(text), err
}

package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"sync"

	"github.com/sequent-dev/sequent"
)

// Walk yields all notes, folder by folder, in the order of their names. It
// reads folders and no notes.
//
// What cannot be a note, or a folder that cannot be read, it yields as an error
// with Info.URI empty, and goes on. Files that are not Markdown, links, and
// what begins with a dot it passes over. It ends early when ctx is done, with an
// error of the code sequent.CodeCanceled.
func (v *Vault) Walk(ctx context.Context) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) { v.walkAhead(ctx, ".", yield) }
}

// WalkFolder is Walk in one folder, given by its slash-separated path. A folder
// that is not there has no notes.
func (v *Vault) WalkFolder(ctx context.Context, folder string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		err := checkFile(folder)
		if err == nil {
			err = v.noLinksOnTheWay(folder + "/x")
		}
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Info{}, wrap(err, fileURI(folder)))
			return
		}
		v.walkAhead(ctx, folder, yield)
	}
}

// A walker reads folders ahead of where it is: asking the system for each file
// is nearly all that a walk costs, and another core can do it meanwhile.
type walker struct {
	*Vault
	reading sync.WaitGroup
}

// readAhead is how many folders of one folder are read before they are come to.
const readAhead = 4

// A listing is what a folder holds.
type listing struct {
	entries []fs.DirEntry
	err     error
}

func (v *Vault) walkAhead(ctx context.Context, folder string, yield func(Info, error) bool) {
	w := walker{Vault: v}
	defer w.reading.Wait()
	w.walk(ctx, folder, w.list(folder), yield)
}

// list begins to read a folder.
func (w *walker) list(folder string) <-chan listing {
	out := make(chan listing, 1)
	w.reading.Go(func() {
		entries, err := fs.ReadDir(w.root.FS(), folder)
		out <- listing{entries, err}
	})
	return out
}

// walk reports whether to go on.
func (w *walker) walk(ctx context.Context, folder string, reading <-chan listing, yield func(Info, error) bool) bool {
	read := <-reading
	entries, err := read.entries, read.err
	if err != nil && len(entries) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			return true // it has just been removed
		}
		return yield(Info{}, wrap(err, fileURI(folder)))
	}
	var below []string // the folders to come
	for _, e := range entries {
		if p := path.Join(folder, e.Name()); e.IsDir() && badName(e.Name()) == "" && len(p) <= longestPath {
			below = append(below, p)
		}
	}
	ahead := make(map[string]<-chan listing, readAhead)
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			yield(Info{}, wrap(err, fileURI(folder)))
			return false
		}
		name := e.Name()
		if name[0] == '.' || !e.IsDir() && !(e.Type().IsRegular() && isNote(name)) {
			continue
		}
		p := path.Join(folder, name)
		if why := badName(name); why != "" || len(p) > longestPath {
			if why == "" {
				why = fmt.Sprintf("its path is longer than %d bytes", longestPath)
			}
			if !yield(Info{}, unnamable(p, why)) {
				return false
			}
			continue
		}
		if e.IsDir() {
			for _, next := range below[:min(readAhead, len(below))] {
				if ahead[next] == nil {
					ahead[next] = w.list(next)
				}
			}
			below = below[1:] // p is its first
			if !w.walk(ctx, p, ahead[p], yield) {
				return false
			}
			delete(ahead, p)
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			if !yield(Info{}, wrap(err, uriOf(p))) {
				return false
			}
			continue
		}
		if !yield(infoOf(p, info), nil) {
			return false
		}
	}
	return true
}

func unnamable(p, why string) error {
	return &sequent.Error{
		Code: CodeInvalidURI, Field: "uri",
		Msg: fmt.Sprintf("the file %q is left out: %s", p, why),
		Fix: "rename it",
	}
}

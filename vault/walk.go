package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
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

// Recent returns the notes whose path begins with prefix, last changed first, at
// most limit of them. It leaves out what cannot be read.
func (v *Vault) Recent(ctx context.Context, prefix string, limit int) ([]Info, error) {
	var list []Info
	for info, err := range v.Walk(ctx) {
		if ctx.Err() != nil {
			return nil, err
		}
		if err == nil && strings.HasPrefix(info.URI.Path(), prefix) {
			list = append(list, info)
		}
	}
	slices.SortStableFunc(list, func(a, b Info) int { return b.Modified.Compare(a.Modified) })
	return list[:min(limit, len(list))], nil
}

// A walker reads folders ahead of where it is: asking the system for each file
// is nearly all that a walk costs, and another core can do it meanwhile.
type walker struct {
	*Vault
	reading sync.WaitGroup
}

// readAhead is how many folders of one folder are read before they are come to.
const readAhead = 4

// An item of a folder is another folder, a note, or what cannot be one.
type item struct {
	folder string // its path; empty if it is no folder
	info   Info
	err    error
}

func (v *Vault) walkAhead(ctx context.Context, folder string, yield func(Info, error) bool) {
	w := walker{Vault: v}
	defer w.reading.Wait()
	w.walk(ctx, w.list(folder), yield)
}

// list begins to read a folder.
func (w *walker) list(folder string) <-chan []item {
	out := make(chan []item, 1)
	w.reading.Go(func() {
		entries, err := fs.ReadDir(w.root.FS(), folder)
		if err != nil && len(entries) == 0 {
			if errors.Is(err, fs.ErrNotExist) {
				out <- nil // it has just been removed
			} else {
				out <- []item{{err: wrap(err, fileURI(folder))}}
			}
			return
		}
		items := make([]item, 0, len(entries))
		for _, e := range entries {
			if it, ok := itemOf(folder, e); ok {
				items = append(items, it)
			}
		}
		out <- items
	})
	return out
}

// itemOf returns what an entry of a folder is, and whether it is anything.
func itemOf(folder string, e fs.DirEntry) (item, bool) {
	name := e.Name()
	if name[0] == '.' || !e.IsDir() && !(e.Type().IsRegular() && isNote(name)) {
		return item{}, false
	}
	p := path.Join(folder, name)
	if why := badName(name); why != "" {
		return item{err: unnamable(p, why)}, true
	}
	if len(p) > longestPath {
		return item{err: unnamable(p, fmt.Sprintf("its path is longer than %d bytes", longestPath))}, true
	}
	if e.IsDir() {
		return item{folder: p}, true
	}
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		return item{}, false
	case err != nil:
		return item{err: wrap(err, uriOf(p))}, true
	}
	return item{info: infoOf(p, info)}, true
}

// walk reports whether to go on.
func (w *walker) walk(ctx context.Context, reading <-chan []item, yield func(Info, error) bool) bool {
	items := <-reading
	var below []string // the folders to come
	for _, it := range items {
		if it.folder != "" {
			below = append(below, it.folder)
		}
	}
	ahead := make(map[string]<-chan []item, readAhead)
	for _, it := range items {
		if err := ctx.Err(); err != nil {
			yield(Info{}, wrap(err, scheme))
			return false
		}
		if it.folder == "" {
			if !yield(it.info, it.err) {
				return false
			}
			continue
		}
		for _, next := range below[:min(readAhead, len(below))] {
			if ahead[next] == nil {
				ahead[next] = w.list(next)
			}
		}
		below = below[1:] // it is the first
		if !w.walk(ctx, ahead[it.folder], yield) {
			return false
		}
		delete(ahead, it.folder)
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

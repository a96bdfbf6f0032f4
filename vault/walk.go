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

// Walk yields all notes, folder by folder, sorted by name. It reads folders, but no
// notes.
//
// For a file with a name that no note can have, or a folder that cannot be read, it
// yields an error and an empty Info, and continues. It skips files that are not
// Markdown, symbolic links, and names that begin with a dot. If ctx is cancelled, the
// last error has the code sequent.CodeCanceled.
func (v *Vault) Walk(ctx context.Context) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) { v.walkAhead(ctx, ".", yield) }
}

// WalkFolder is Walk in one folder, given by its slash-separated path. A missing folder
// has no notes.
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
// most limit of them; all, if limit is negative. It leaves out what cannot be read.
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
	if limit < 0 {
		return list, nil
	}
	return list[:min(limit, len(list))], nil
}

// A walker reads folders ahead, on other cores: nearly all time of a walk is spent in
// system calls for each file.
type walker struct {
	*Vault
	reading sync.WaitGroup
}

// readAheadFolders is how many folders of one folder are read ahead.
const readAheadFolders = 4

// An item is an entry of a folder: a folder, a note, or an error.
type item struct {
	folder string // the path of a folder; empty for a note or an error
	info   Info
	err    error
}

func (v *Vault) walkAhead(ctx context.Context, folder string, yield func(Info, error) bool) {
	w := walker{Vault: v}
	defer w.reading.Wait()
	w.walk(ctx, w.list(folder), yield)
}

// list starts to read a folder.
func (w *walker) list(folder string) <-chan []item {
	out := make(chan []item, 1)
	w.reading.Go(func() {
		entries, err := fs.ReadDir(w.root.FS(), folder)
		if err != nil && len(entries) == 0 {
			if errors.Is(err, fs.ErrNotExist) {
				out <- nil // removed since
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

// itemOf returns the item for an entry of a folder, or false for one that is skipped.
func itemOf(folder string, e fs.DirEntry) (item, bool) {
	name := e.Name()
	if name[0] == '.' || !e.IsDir() && !(e.Type().IsRegular() && isNote(name)) {
		return item{}, false
	}
	p := path.Join(folder, name)
	if why := badName(name); why != "" {
		return item{err: unnamable(p, why)}, true
	}
	if len(p) > maxPathBytes {
		return item{err: unnamable(p, fmt.Sprintf("its path is longer than %d bytes", maxPathBytes))}, true
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

// walk yields the items of a folder and the folders below it. It reports whether to
// continue.
func (w *walker) walk(ctx context.Context, reading <-chan []item, yield func(Info, error) bool) bool {
	items := <-reading
	var below []string // folders that are not yet walked
	for _, it := range items {
		if it.folder != "" {
			below = append(below, it.folder)
		}
	}
	ahead := make(map[string]<-chan []item, readAheadFolders)
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
		for _, next := range below[:min(readAheadFolders, len(below))] {
			if ahead[next] == nil {
				ahead[next] = w.list(next)
			}
		}
		below = below[1:] // this folder
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

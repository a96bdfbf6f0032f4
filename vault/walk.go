package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"

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
	return func(yield func(Info, error) bool) { v.walk(ctx, ".", yield) }
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
		v.walk(ctx, folder, yield)
	}
}

// walk reports whether to go on.
func (v *Vault) walk(ctx context.Context, folder string, yield func(Info, error) bool) bool {
	entries, err := fs.ReadDir(v.root.FS(), folder)
	if err != nil && len(entries) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			return true // it has just been removed
		}
		return yield(Info{}, wrap(err, fileURI(folder)))
	}
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
			if !v.walk(ctx, p, yield) {
				return false
			}
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

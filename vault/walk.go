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

	"github.com/sequent-dev/sequent"
)

// Walk yields the notes in a folder, given by its slash-separated path, and below it; empty
// means the vault. They come folder by folder, sorted by name. A missing folder has no
// notes. Walk reads folders, but no notes.
//
// For a file with a name that no note can have, or a folder that cannot be read, it
// yields an error and an empty Info, and continues. It skips files that are not
// Markdown, symbolic links, and names that begin with a dot. If ctx is cancelled, the
// last error has the code sequent.CodeCanceled.
func (v *Vault) Walk(ctx context.Context, folder string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		folder := path.Clean(folder)
		visit := func(p string, e fs.DirEntry, err error) error {
			name := path.Base(p)
			var info Info
			var next error
			if err == nil && e.IsDir() && p != folder && (name[0] == '.' || badName(name) != "" || len(p) > maxPathBytes) {
				next = fs.SkipDir
			}
			switch {
			case err != nil:
			case ctx.Err() != nil:
				p, err, next = "", ctx.Err(), fs.SkipAll
			case p == folder, name[0] == '.', !e.IsDir() && !(e.Type().IsRegular() && isNote(name)):
				return next
			case badName(name) != "":
				err = leftOut(p, badName(name))
			case len(p) > maxPathBytes:
				err = leftOut(p, fmt.Sprintf("its path is longer than %d bytes", maxPathBytes))
			case e.IsDir():
				return nil
			default:
				var stat fs.FileInfo
				if stat, err = e.Info(); err == nil {
					info = infoOf(p, stat)
				}
			}
			if !errors.Is(err, fs.ErrNotExist) && !yield(info, wrap(err, URI(scheme+p))) { // else it was removed since
				return fs.SkipAll
			}
			return next
		}
		err := v.isFolder(folder)
		if err == nil {
			err = fs.WalkDir(v.root.FS(), folder, visit)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Info{}, wrap(err, URI(scheme+folder)))
		}
	}
}

func leftOut(p, why string) error {
	return sequent.Errorf(CodeInvalidURI, "uri", "rename it", "the file %q is left out: %s", p, why)
}

// Find returns the URI of the note with a name in a folder: directly in it, or else in a
// folder below. If there is none, it returns the first place and an error that matches
// ErrNotFound.
func (v *Vault) Find(ctx context.Context, folder, name string) (URI, error) {
	uri, err := PathURI(folder + "/" + name)
	if err != nil {
		return "", err
	}
	_, err = v.Stat(ctx, uri)
	if !errors.Is(err, ErrNotFound) {
		return uri, err
	}
	for info, failed := range v.Walk(ctx, folder) {
		if ctx.Err() != nil {
			return "", failed
		}
		if failed == nil && info.URI.Name() == name {
			return info.URI, nil
		}
	}
	return uri, err
}

// Recent returns the notes in a folder and below it, last changed first. It leaves out what
// cannot be read.
func (v *Vault) Recent(ctx context.Context, folder string) (list []Info, err error) {
	for info, err := range v.Walk(ctx, folder) {
		if ctx.Err() != nil {
			return nil, err
		}
		if err == nil {
			list = append(list, info)
		}
	}
	slices.SortStableFunc(list, func(a, b Info) int { return b.Modified.Compare(a.Modified) })
	return list, nil
}

// Files returns the content of the files in a folder of the vault, by their names. It
// leaves out names that begin with a dot or do not end in the extension. A missing folder
// has no files; for one that cannot be read, fail is called.
func (v *Vault) Files(ctx context.Context, folder, extension string, fail func(error)) map[string][]byte {
	err := v.isFolder(folder)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = fs.ReadDir(v.root.FS(), folder)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fail(wrap(err, URI(scheme+folder)))
	}
	files := make(map[string][]byte)
	for _, e := range entries {
		p := path.Join(folder, e.Name())
		if ctx.Err() != nil || !e.Type().IsRegular() || badName(e.Name()) != "" || !strings.EqualFold(path.Ext(p), extension) {
			continue
		}
		data, _, err := v.readFile(p)
		if err != nil {
			fail(wrap(err, URI(scheme+p)))
			continue
		}
		files[e.Name()] = data
	}
	return files
}

package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
)

// Walk yields all notes, folder by folder, sorted by name. It reads folders, but no
// notes.
//
// For a file with a name that no note can have, or a folder that cannot be read, it
// yields an error and an empty Info, and continues. It skips files that are not
// Markdown, symbolic links, and names that begin with a dot. If ctx is cancelled, the
// last error has the code sequent.CodeCanceled.
func (v *Vault) Walk(ctx context.Context) iter.Seq2[Info, error] { return v.walk(ctx, ".") }

// WalkFolder is Walk in one folder, given by its slash-separated path. A missing folder
// has no notes.
func (v *Vault) WalkFolder(ctx context.Context, folder string) iter.Seq2[Info, error] {
	if err := v.noLinksOnTheWay(folder + "/x"); err != nil {
		return func(yield func(Info, error) bool) {
			if !errors.Is(err, fs.ErrNotExist) {
				yield(Info{}, wrap(err, URI(scheme+folder)))
			}
		}
	}
	return v.walk(ctx, folder)
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
	for info, failed := range v.WalkFolder(ctx, folder) {
		if ctx.Err() != nil {
			return "", failed
		}
		if failed == nil && info.URI.Name() == name {
			return info.URI, nil
		}
	}
	return uri, err
}

func (v *Vault) walk(ctx context.Context, folder string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		visit := func(p string, e fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			var info Info
			switch {
			case errors.Is(err, fs.ErrNotExist): // removed since
				return nil
			case err != nil:
				err = wrap(err, URI(scheme+p))
			case p == folder:
				return nil
			case e.Name()[0] == '.' || !e.IsDir() && !(e.Type().IsRegular() && isNote(e.Name())):
				return skip(e)
			default:
				if info, err = infoOfEntry(p, e); err == nil && info.URI == "" {
					return nil
				}
			}
			if !yield(info, err) || ctx.Err() != nil {
				return fs.SkipAll
			}
			if err != nil && e != nil {
				return skip(e)
			}
			return nil
		}
		_ = fs.WalkDir(v.root.FS(), folder, visit)
	}
}

// skip leaves out an entry of a folder.
func skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// infoOfEntry returns the state of a note, or nothing for a folder and for what is gone.
func infoOfEntry(p string, e fs.DirEntry) (Info, error) {
	why := badName(e.Name())
	if len(p) > maxPathBytes {
		why = fmt.Sprintf("its path is longer than %d bytes", maxPathBytes)
	}
	if why != "" {
		return Info{}, sequent.Errorf(CodeInvalidURI, "uri", "rename it", "the file %q is left out: %s", p, why)
	}
	if e.IsDir() {
		return Info{}, nil
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return Info{}, nil
	}
	if err != nil {
		return Info{}, wrap(err, uriOf(p))
	}
	return infoOf(p, info), nil
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

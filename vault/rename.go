package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sequent-dev/sequent/internal/durable"
)

// Rename gives a note another URI. check, unless it is nil, gets the note under its lock;
// its error is returned and nothing is changed. The error for a missing note matches
// ErrNotFound, the one for an existing file at the new place ErrExists. Links to the note
// stay as they are.
//
// A process that is killed in between may leave the note under both names, which is one
// file: Rename with the same arguments then removes the old name.
func (v *Vault) Rename(ctx context.Context, from, to URI, check func(*Note) error) (*Note, error) {
	p, err := pathOf(string(from))
	if err != nil {
		return nil, err
	}
	q, err := pathOf(string(to))
	if err != nil {
		return nil, err
	}
	unlock, err := v.lockBoth(ctx, p, q)
	if err != nil {
		return nil, wrap(err, uriOf(p))
	}
	defer unlock()
	n, err := v.read(p)
	if err != nil {
		return nil, wrap(err, uriOf(p))
	}
	if check != nil {
		if err := check(n); err != nil {
			return nil, err
		}
	}
	if err := v.rename(p, q, n.stat); err != nil {
		return nil, wrap(err, uriOf(q))
	}
	v.wrote(uriOf(p))
	v.wrote(uriOf(q))
	n, err = v.read(q)
	return n, wrap(err, uriOf(q))
}

// rename gives a file another path. The caller holds both locks.
func (v *Vault) rename(p, q string, file fs.FileInfo) error {
	if err := v.noLinksOnTheWay(q); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := v.makeFolder(path.Dir(q)); err != nil {
		return err
	}
	switch there, err := v.root.Lstat(q); {
	case errors.Is(err, fs.ErrNotExist):
		err = v.root.Link(p, q) // unlike a rename, it fails if there is a file by now
		if noLinks(err) {
			if err = v.root.Rename(p, q); err != nil {
				return err
			}
			return errors.Join(durable.SyncDir(v.root, path.Dir(q)), durable.SyncDir(v.root, path.Dir(p)))
		}
		if err != nil {
			return err
		}
		if err := durable.SyncDir(v.root, path.Dir(q)); err != nil {
			return err
		}
	case err != nil:
		return err
	case !os.SameFile(there, file):
		return fs.ErrExist
	case sameName(p, q):
		// On a case-insensitive file system, both names are one.
		return v.root.Rename(p, q)
	}
	if err := v.root.Remove(p); err != nil {
		return err
	}
	return durable.SyncDir(v.root, path.Dir(p))
}

// sameName reports whether two paths differ at most in case.
func sameName(p, q string) bool { return strings.EqualFold(p, q) }

package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/sequent-dev/sequent/internal/durable"
)

const tempDir = stateDir + "/tmp"

// Create writes a new note at n.URI. If there is a file already, the error matches
// ErrExists.
//
// After Create returns nil, the complete note is on disk. After an error there is no
// note, unless flushing the folder failed.
func (v *Vault) Create(ctx context.Context, n *Note) error {
	return v.Hold(ctx, n.URI, func(h *Held) error { return h.Create(n) })
}

// Update changes a note. change edits the front matter and body of the note that it
// gets. If the file changes during the update, change is called again with the new
// note, so it must have no other effects. If change returns an error, Update returns
// it. After an error, or if change changes nothing, nothing is written.
//
// After Update returns nil, the complete note is on disk. After an error the file is
// unchanged, unless flushing the folder failed. The file keeps its permissions.
func (v *Vault) Update(ctx context.Context, uri URI, change func(*Note) error) (n *Note, err error) {
	err = v.Hold(ctx, uri, func(h *Held) error {
		n, err = h.Update(change)
		return err
	})
	return n, err
}

// Delete removes a note. The error for a missing note matches ErrNotFound.
func (v *Vault) Delete(ctx context.Context, uri URI) error {
	return v.Hold(ctx, uri, (*Held).Delete)
}

// create writes a new file and returns its state. The caller holds the lock.
func (v *Vault) create(p string, data []byte) (fs.FileInfo, error) {
	if int64(len(data)) > v.maxBytes {
		return nil, v.tooLarge(uriOf(p))
	}
	if err := v.noLinksOnTheWay(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := v.makeFolder(path.Dir(p)); err != nil {
		return nil, err
	}
	if _, err := v.root.Lstat(p); err == nil {
		return nil, fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	temp, err := v.writeTemp(data, 0o600)
	if err != nil {
		return nil, err
	}
	// A rename would replace a file that was created a moment ago; a link fails.
	err = v.root.Link(temp, p)
	if err == nil || !noLinks(err) {
		_ = v.root.Remove(temp)
	} else if err = v.root.Rename(temp, p); err != nil {
		_ = v.root.Remove(temp)
	}
	if err != nil {
		return nil, err
	}
	if err := durable.SyncDir(v.root, path.Dir(p)); err != nil {
		return nil, err
	}
	return v.root.Lstat(p)
}

// replace replaces a file and returns its new state; nil if its state was no longer
// old. The caller holds the lock.
func (v *Vault) replace(p string, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	if int64(len(data)) > v.maxBytes {
		return nil, v.tooLarge(uriOf(p))
	}
	if old.Mode().Perm()&0o200 == 0 {
		return nil, &fs.PathError{Op: "replace", Path: p, Err: fs.ErrPermission} // a rename would ignore that it is read-only
	}
	temp, err := v.writeTemp(data, old.Mode().Perm())
	if err != nil {
		return nil, err
	}
	// A person's change is lost only between this check and the rename.
	now, err := v.lstat(p)
	if err == nil && !unchanged(old, now) || errors.Is(err, fs.ErrNotExist) {
		_ = v.root.Remove(temp)
		return nil, nil
	}
	if err == nil {
		err = v.root.Rename(temp, p)
	}
	if err != nil {
		_ = v.root.Remove(temp)
		return nil, err
	}
	if err := durable.SyncDir(v.root, path.Dir(p)); err != nil {
		return nil, err
	}
	return v.root.Lstat(p)
}

// writeTemp writes a temporary file, flushes it and returns its path.
func (v *Vault) writeTemp(data []byte, mode fs.FileMode) (name string, err error) {
	if err := v.makeFolder(tempDir); err != nil {
		return "", err
	}
	durable.RemoveAbandoned(v.root, tempDir, func(string) bool { return true })
	name = tempDir + "/" + rand.Text()
	err = durable.WriteTemp(v.root, name, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return name, err
}

// makeFolder creates a folder and its parents, and flushes their names to disk.
func (v *Vault) makeFolder(name string) error {
	info, err := v.root.Lstat(name)
	if err == nil {
		if !info.IsDir() {
			return notANote(fileURI(name), "a folder is needed there")
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := "."
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		parent = name[:i]
		if err := v.makeFolder(parent); err != nil {
			return err
		}
	}
	if err := v.root.Mkdir(name, 0o700); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	if name == stateDir {
		// Vaults are kept in version control; this folder is not part of them.
		_ = v.root.WriteFile(stateDir+"/.gitignore", []byte("*\n"), 0o600)
	}
	return durable.SyncDir(v.root, parent)
}

package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

const tempDir = stateDir + "/tmp"

// abandoned is how old a temporary file is that nobody writes any more: its
// process has been killed.
const abandoned = time.Hour

// Create writes a new note, with the URI that it has. If there is something at
// that place, the error matches ErrExists.
//
// When Create returns nil, the note is on disk and whole; else there is none,
// but for a failure after the last step.
func (v *Vault) Create(ctx context.Context, n *Note) error {
	return v.Hold(ctx, n.URI, func(h *Held) error { return h.Create(n) })
}

// Update changes a note. Change gets the note as it is and changes its front
// matter and body; it is called again, with the note as it is then, if somebody
// has changed the file meanwhile. So it must have no effect elsewhere. If it
// returns an error, nothing is written and Update returns that error; if it
// changes nothing, nothing is written.
//
// When Update returns, the note is on disk and whole, as change has left it;
// when it returns an error the file is as it was, whole as well, but for a
// failure after the last step. The file keeps its permissions.
func (v *Vault) Update(ctx context.Context, uri URI, change func(*Note) error) (n *Note, err error) {
	err = v.Hold(ctx, uri, func(h *Held) error {
		n, err = h.Update(change)
		return err
	})
	return n, err
}

// Ensure is Update if there is a note with that URI, and Create if there is
// none; change gets an empty one then.
func (v *Vault) Ensure(ctx context.Context, uri URI, change func(*Note) error) (n *Note, err error) {
	err = v.Hold(ctx, uri, func(h *Held) error {
		for range attempts {
			if n, err = h.Update(change); !errors.Is(err, ErrNotFound) {
				return err
			}
			n = &Note{URI: h.uri}
			if err := change(n); err != nil {
				return err
			}
			if err = h.Create(n); !errors.Is(err, ErrExists) {
				return err
			}
		}
		return conflict(h.uri)
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Delete removes a note. There being none is an error matching ErrNotFound.
func (v *Vault) Delete(ctx context.Context, uri URI) error {
	return v.Hold(ctx, uri, (*Held).delete)
}

// create writes a new file and returns what it is then. The caller holds it.
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
	// A link fails where a rename would replace what somebody has just made.
	err = v.root.Link(temp, p)
	if err == nil || !noLinks(err) {
		_ = v.root.Remove(temp)
	} else if err = v.root.Rename(temp, p); err != nil {
		_ = v.root.Remove(temp)
	}
	if err != nil {
		return nil, err
	}
	if err := syncFolder(v.root, path.Dir(p)); err != nil {
		return nil, err
	}
	return v.root.Lstat(p)
}

// replace puts new contents in the place of a file that is as old says, and
// returns what it is then; nil if it was not as old says. The caller holds the
// lock.
func (v *Vault) replace(p string, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	if int64(len(data)) > v.maxBytes {
		return nil, v.tooLarge(uriOf(p))
	}
	if old.Mode().Perm()&0o200 == 0 {
		return nil, &fs.PathError{Op: "replace", Path: p, Err: fs.ErrPermission} // somebody has made it read-only
	}
	temp, err := v.writeTemp(data, old.Mode().Perm())
	if err != nil {
		return nil, err
	}
	// From here to the rename is what is left of the time in which a person's
	// change could be lost.
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
	if err := syncFolder(v.root, path.Dir(p)); err != nil {
		return nil, err
	}
	return v.root.Lstat(p)
}

// writeTemp writes a temporary file, flushes it and returns its path.
func (v *Vault) writeTemp(data []byte, mode fs.FileMode) (name string, err error) {
	if err := v.makeFolder(tempDir); err != nil {
		return "", err
	}
	v.sweep()
	name = tempDir + "/" + rand.Text()
	f, err := v.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = v.root.Remove(name)
		return "", err
	}
	return name, nil
}

// sweep removes what writers left behind that were killed. What cannot be
// removed is in nobody's way.
func (v *Vault) sweep() {
	entries, err := fs.ReadDir(v.root.FS(), tempDir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = v.root.Remove(tempDir + "/" + e.Name())
		}
	}
}

// makeFolder makes a folder and those above it, and sees to it that their
// names are on disk.
func (v *Vault) makeFolder(name string) error {
	info, err := v.root.Lstat(name)
	if err == nil {
		if !info.IsDir() {
			return notANote(fileURI(name), "a folder that is needed is something else")
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
		// A vault may be kept in version control; this is nobody's concern there.
		_ = v.root.WriteFile(stateDir+"/.gitignore", []byte("*\n"), 0o600)
	}
	return syncFolder(v.root, parent)
}

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
	p, err := pathOf(string(n.URI))
	if err != nil {
		return err
	}
	uri := uriOf(p)
	unlock, err := v.lock(ctx, p)
	if err != nil {
		return wrap(err, uri)
	}
	defer unlock()
	if err := v.create(p, n.Bytes()); err != nil {
		return wrap(err, uri)
	}
	n.URI = uri
	return nil
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
func (v *Vault) Update(ctx context.Context, uri URI, change func(*Note) error) (*Note, error) {
	p, err := pathOf(string(uri))
	if err != nil {
		return nil, err
	}
	uri = uriOf(p)
	unlock, err := v.lock(ctx, p)
	if err != nil {
		return nil, wrap(err, uri)
	}
	defer unlock()
	for range attempts {
		if err := ctx.Err(); err != nil {
			return nil, wrap(err, uri)
		}
		old, err := v.read(p)
		if err != nil {
			return nil, wrap(err, uri)
		}
		n := old.clone()
		if err := change(n); err != nil {
			return nil, err
		}
		data := n.Bytes()
		if string(data) == old.data {
			return n, nil
		}
		info, err := v.replace(p, data, old.stat)
		if err != nil {
			return nil, wrap(err, uri)
		}
		if info != nil {
			n.URI, n.data, n.stat, n.Info = uri, string(data), info, infoOf(p, info)
			return n, nil
		}
	}
	return nil, conflict(uri)
}

// Ensure is Update if there is a note with that URI, and Create if there is
// none; change gets an empty one then.
func (v *Vault) Ensure(ctx context.Context, uri URI, change func(*Note) error) (*Note, error) {
	for range attempts {
		n, err := v.Update(ctx, uri, change)
		if !errors.Is(err, ErrNotFound) {
			return n, err
		}
		n = &Note{URI: uri}
		if err := change(n); err != nil {
			return nil, err
		}
		if err := v.Create(ctx, n); !errors.Is(err, ErrExists) {
			return n, err
		}
	}
	return nil, conflict(uri)
}

// Delete removes a note. There being none is an error matching ErrNotFound.
func (v *Vault) Delete(ctx context.Context, uri URI) error {
	p, err := pathOf(string(uri))
	if err != nil {
		return err
	}
	uri = uriOf(p)
	unlock, err := v.lock(ctx, p)
	if err != nil {
		return wrap(err, uri)
	}
	defer unlock()
	if _, err := v.lstat(p); err != nil {
		return wrap(err, uri)
	}
	if err := v.root.Remove(p); err != nil {
		return wrap(err, uri)
	}
	return wrap(syncFolder(v.root, path.Dir(p)), uri)
}

// create writes a new file. The caller holds its lock.
func (v *Vault) create(p string, data []byte) error {
	if int64(len(data)) > v.max {
		return v.tooLarge(uriOf(p))
	}
	if dir := path.Dir(p); dir != "." {
		if err := v.noLinksOnTheWay(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := v.makeFolder(dir); err != nil {
			return err
		}
	}
	if _, err := v.root.Lstat(p); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp, err := v.writeTemp(data, 0o600)
	if err != nil {
		return err
	}
	// A link fails where a rename would replace what somebody has just made.
	err = v.root.Link(temp, p)
	if err == nil || !noLinks(err) {
		_ = v.root.Remove(temp)
	} else if err = v.root.Rename(temp, p); err != nil {
		_ = v.root.Remove(temp)
	}
	if err != nil {
		return err
	}
	return syncFolder(v.root, path.Dir(p))
}

// replace puts new contents in the place of a file that is as old says, and
// returns what it is then; nil if it was not as old says. The caller holds the
// lock.
func (v *Vault) replace(p string, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	if int64(len(data)) > v.max {
		return nil, v.tooLarge(uriOf(p))
	}
	if old.Mode().Perm()&0o200 == 0 {
		return nil, &fs.PathError{Op: "replace", Path: p, Err: fs.ErrPermission} // somebody has made it read-only
	}
	temp, err := v.writeTemp(data, old.Mode().Perm())
	if err != nil {
		return nil, err
	}
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
	return syncFolder(v.root, parent)
}

package vault

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
)

const tempDir = stateDir + "/tmp"

// read returns the note at a checked path.
func (v *Vault) read(p string) (*Note, error) {
	data, info, err := v.readFile(p)
	if err != nil {
		return nil, err
	}
	if zeros := bytes.Count(data, []byte{0}); zeros > 0 && zeros >= len(data)/4 { // UTF-16, or no text at all
		return nil, sequent.Errorf(CodeNotText, "uri", "save it in UTF-8", "%s is not text in UTF-8", uriOf(p))
	}
	n := ParseNote(uriOf(p), data)
	n.Info, n.stat = infoOf(p, info), info
	return n, nil
}

// readFile returns the content of a file, and its state before it was read: a file that
// changes meanwhile has another state later.
func (v *Vault) readFile(p string) ([]byte, fs.FileInfo, error) {
	if _, err := v.lstat(p); err != nil {
		return nil, nil, err
	}
	f, err := v.root.OpenFile(p, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // it only read
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() { // it was replaced
		err = notANote(p)
	}
	if err != nil {
		return nil, nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, min(info.Size(), MaxBytes)+bytes.MinRead))
	if _, err = data.ReadFrom(io.LimitReader(f, MaxBytes+1)); err == nil {
		err = Check(uriOf(p), data.Len(), 0)
	}
	return data.Bytes(), info, err
}

// lstat returns the state of the note at a checked path. No symbolic link is followed:
// os.Root refuses those that lead outside, and a note must not have two names.
func (v *Vault) lstat(p string) (fs.FileInfo, error) {
	if err := v.isFolder(path.Dir(p)); err != nil {
		return nil, err
	}
	info, err := v.root.Lstat(p)
	if err == nil && !info.Mode().IsRegular() {
		err = notANote(p)
	}
	return info, err
}

// isFolder returns an error unless a path leads to a folder, by way of folders.
func (v *Vault) isFolder(dir string) error {
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		info, err := v.root.Lstat(dir[:i])
		if err == nil && !info.IsDir() {
			err = notANote(dir[:i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeFolder creates a folder and its parents, and flushes their names to disk.
func (v *Vault) makeFolder(name string) error {
	err := v.isFolder(name)
	if !errors.Is(err, fs.ErrNotExist) || name == "." {
		return err
	}
	if err := v.makeFolder(path.Dir(name)); err != nil {
		return err
	}
	if err := v.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if name == stateDir { // vaults are kept in version control; this folder is not part of them
		_ = v.root.WriteFile(stateDir+"/.gitignore", []byte("*\n"), 0o600)
	}
	return durable.SyncDir(v.root, path.Dir(name))
}

// write writes a note and returns its state. It returns nil if the file is no longer in the
// state old; a new note has none. The caller holds the lock.
func (v *Vault) write(p string, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	if err := Check(uriOf(p), len(data), 0); err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o600)
	if old != nil {
		mode = old.Mode().Perm()
	} else if err := v.makeFolder(path.Dir(p)); err != nil {
		return nil, err
	}
	if mode&0o200 == 0 {
		return nil, fs.ErrPermission // a rename would ignore that the file is read-only
	}
	temp, err := v.writeTemp(data, mode)
	if err != nil {
		return nil, err
	}
	defer func() { _ = v.root.Remove(temp) }() // unless it has the note's name
	// What another program writes into an old file is lost only between this check and the rename.
	now, err := v.lstat(p)
	switch gone := errors.Is(err, fs.ErrNotExist); {
	case err != nil && !gone:
		return nil, err
	case old == nil && !gone:
		return nil, fs.ErrExist
	case old != nil && (gone || !os.SameFile(old, now) || old.Size() != now.Size() || !old.ModTime().Equal(now.ModTime())):
		return nil, nil
	}
	if err := v.rename(temp, p, old != nil); err != nil {
		return nil, err
	}
	return v.root.Lstat(p)
}

// rename gives a file another name, and flushes that to disk. Unless it may replace a file,
// the name is taken by a link, which fails if another program has just created a file.
func (v *Vault) rename(from, to string, replace bool) error {
	err := errors.ErrUnsupported
	if !replace {
		if err = v.root.Link(from, to); errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err == nil {
		err = v.root.Remove(from)
	} else {
		err = v.root.Rename(from, to) // also on file systems without links
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(v.root, path.Dir(to))
}

// writeTemp writes a temporary file, flushes it and returns its path.
func (v *Vault) writeTemp(data []byte, mode fs.FileMode) (name string, err error) {
	if err := v.makeFolder(tempDir); err != nil {
		return "", err
	}
	v.cleaning.Do(func() { durable.RemoveAbandoned(v.root, tempDir, func(string) bool { return true }) })
	name = tempDir + "/" + rand.Text()
	err = durable.WriteTemp(v.root, name, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return name, err
}

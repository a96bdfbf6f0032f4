package vault

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf16"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
)

const tempDir = stateDir + "/tmp"

// Files returns the content of the files in a folder of the vault, by their names. It
// leaves out names that begin with a dot or do not end in the extension. A missing folder
// has no files; for one that cannot be read, fail is called.
func (v *Vault) Files(ctx context.Context, folder, extension string, fail func(error)) map[string][]byte {
	files := make(map[string][]byte)
	err := v.noLinksOnTheWay(folder + "/x")
	var entries []fs.DirEntry
	if err == nil {
		entries, err = fs.ReadDir(v.root.FS(), folder)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fail(wrap(err, URI(scheme+folder)))
	}
	for _, e := range entries {
		name := e.Name()
		if ctx.Err() != nil || !e.Type().IsRegular() || badName(name) != "" || !strings.EqualFold(path.Ext(name), extension) {
			continue
		}
		data, _, err := v.readFile(path.Join(folder, name))
		if err != nil {
			fail(wrap(err, URI(scheme+path.Join(folder, name))))
			continue
		}
		files[name] = data
	}
	return files
}

// read returns the note at a checked path.
func (v *Vault) read(p string) (*Note, error) {
	data, info, err := v.readFile(p)
	if err != nil {
		return nil, err
	}
	data = decoded(data)
	if zeros := bytes.Count(data, []byte{0}); zeros > 0 && zeros >= len(data)/4 {
		return nil, sequent.Errorf(CodeNotText, "uri", "save it in UTF-8",
			"%s is not text in UTF-8, nor in UTF-16 with a byte order mark", uriOf(p))
	}
	n := ParseNote(uriOf(p), data)
	n.Info, n.stat = infoOf(p, info), info
	return n, nil
}

// decoded returns the content of a file in UTF-16, which begins with a byte order mark, in
// UTF-8, in which it is written after a change; that of another file unchanged.
func decoded(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	case !bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return data
	}
	units := make([]uint16, len(data)/2-1)
	_, _ = binary.Decode(data[2:], order, units) // it has enough bytes
	return []byte(string(utf16.Decode(units)))
}

// maxAttempts limits how often an operation is repeated because the note changed.
const maxAttempts = 20

func (v *Vault) readFile(p string) ([]byte, fs.FileInfo, error) {
	for range maxAttempts {
		f, before, err := v.open(p)
		if err != nil {
			return nil, nil, err
		}
		data := bytes.NewBuffer(make([]byte, 0, min(before.Size(), v.maxBytes)+bytes.MinRead))
		_, err = data.ReadFrom(io.LimitReader(f, v.maxBytes+1))
		after, err2 := f.Stat()
		_ = f.Close()
		switch {
		case errors.Join(err, err2) != nil:
			return nil, nil, errors.Join(err, err2)
		case before.Size() > v.maxBytes || int64(data.Len()) > v.maxBytes:
			return nil, nil, v.tooLarge(uriOf(p))
		case unchanged(before, after) && int64(data.Len()) == after.Size():
			return data.Bytes(), after, nil
		}
	}
	return nil, nil, conflict(uriOf(p))
}

// unchanged reports whether two states are of one unchanged file.
func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// open opens the regular file at a checked path.
func (v *Vault) open(p string) (*os.File, fs.FileInfo, error) {
	if _, err := v.lstat(p); err != nil {
		return nil, nil, err
	}
	f, err := v.root.OpenFile(p, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(p, info) // it may have been replaced
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// lstat returns the state of the regular file at a checked path.
func (v *Vault) lstat(p string) (fs.FileInfo, error) {
	if err := v.noLinksOnTheWay(p); err != nil {
		return nil, err
	}
	info, err := v.root.Lstat(p)
	if err != nil {
		return nil, err
	}
	return info, regular(p, info)
}

func regular(p string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return notANote(uriOf(p), "it is a folder")
	case mode&fs.ModeSymlink != 0:
		return notANote(uriOf(p), "it is a link, and links are not followed")
	}
	return notANote(uriOf(p), "it is not an ordinary file")
}

// noLinksOnTheWay refuses a path with a symbolic link among its folders. os.Root
// refuses links that lead outside; this also keeps a note from having two names.
func (v *Vault) noLinksOnTheWay(p string) error {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		info, err := v.root.Lstat(p[:i])
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return notANote(uriOf(p), "the folder "+path.Base(p[:i])+" is a link, and links are not followed")
		case !info.IsDir():
			return notANote(uriOf(p), path.Base(p[:i])+" is not a folder")
		}
	}
	return nil
}

// create writes a new file and returns its state. The caller holds the lock.
func (v *Vault) create(p string, data []byte) (fs.FileInfo, error) {
	if err := v.CheckSize(uriOf(p), len(data)); err != nil {
		return nil, err
	}
	if err := v.noLinksOnTheWay(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := v.makeFolder(path.Dir(p)); err != nil {
		return nil, err
	}
	if _, err := v.root.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, fs.ErrExist)
	}
	temp, err := v.writeTemp(data, 0o600)
	if err != nil {
		return nil, err
	}
	err = v.place(temp, p)
	_ = v.root.Remove(temp)
	if err != nil {
		return nil, err
	}
	return v.root.Lstat(p)
}

// replace replaces a file and returns its new state; nil if its state was no longer
// old. The caller holds the lock.
func (v *Vault) replace(p string, data []byte, old fs.FileInfo) (fs.FileInfo, error) {
	if err := v.CheckSize(uriOf(p), len(data)); err != nil {
		return nil, err
	}
	if old.Mode().Perm()&0o200 == 0 {
		return nil, &fs.PathError{Op: "replace", Path: p, Err: fs.ErrPermission} // a rename would ignore that it is read-only
	}
	temp, err := v.writeTemp(data, old.Mode().Perm())
	if err != nil {
		return nil, err
	}
	defer func() { _ = v.root.Remove(temp) }() // unless it has the note's name
	// A person's change is lost only between this check and the rename.
	now, err := v.lstat(p)
	if err == nil && !unchanged(old, now) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = v.root.Rename(temp, p)
	}
	if err == nil {
		err = durable.SyncDir(v.root, path.Dir(p))
	}
	if err != nil {
		return nil, err
	}
	return v.root.Lstat(p)
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

// makeFolder creates a folder and its parents, and flushes their names to disk.
func (v *Vault) makeFolder(name string) error {
	info, err := v.root.Lstat(name)
	switch {
	case err == nil && !info.IsDir():
		return notANote(URI(scheme+name), "a folder is needed there")
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := path.Dir(name)
	if parent != "." {
		if err := v.makeFolder(parent); err != nil {
			return err
		}
	}
	if err := v.root.Mkdir(name, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	if name == stateDir { // vaults are kept in version control; this folder is not part of them
		_ = v.root.WriteFile(stateDir+"/.gitignore", []byte("*\n"), 0o600)
	}
	return durable.SyncDir(v.root, parent)
}

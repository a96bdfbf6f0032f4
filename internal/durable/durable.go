// Package durable writes files that survive a crash of the process or the system.
package durable

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// abandonedAfter is the age at which a temporary file belongs to a killed process.
const abandonedAfter = time.Hour

// WriteFile writes or replaces a file. After it returns nil, the complete file is on disk. After an
// error the previous file is unchanged, unless flushing the folder failed. Several processes can
// write the same file: each version comes from one of them.
func WriteFile(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) error {
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	RemoveAbandoned(root, dir, func(name string) bool { return IsTemp(name, base) })
	temp := path.Join(dir, "."+base+"-"+rand.Text()+".tmp")
	if err := WriteTemp(root, temp, mode, write); err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil {
		_ = root.Remove(temp)
		return err
	}
	return SyncDir(root, dir)
}

// IsTemp reports whether a name is that of a temporary file of [WriteFile] for a file.
func IsTemp(name, file string) bool {
	return strings.HasPrefix(name, "."+file+"-") && strings.HasSuffix(name, ".tmp")
}

// WriteTemp creates a file, which must not exist, lets write fill it and flushes it
// to disk. After an error the file does not exist. A caller renames or links the file
// to its name and then calls [SyncDir].
func WriteTemp(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(name)
		}
	}()
	err = write(f)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncPath is [SyncDir] for a directory outside a root.
func SyncPath(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	return errors.Join(SyncDir(root, "."), root.Close())
}

// RemoveAbandoned removes the temporary files of killed processes from a directory:
// files that isTemp accepts and that are older than an hour. Files that cannot be
// removed do no harm.
func RemoveAbandoned(root *os.Root, dir string, isTemp func(name string) bool) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !isTemp(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = root.Remove(path.Join(dir, e.Name()))
		}
	}
}

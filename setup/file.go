package setup

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sequent-dev/sequent/internal/durable"
)

// maxFile is the largest configuration file that is changed, in bytes. Claude Code keeps
// its history in the same file.
const maxFile = 64 << 20

// errChanged means that another program has changed a file since it was read.
var errChanged = errors.New("another program is changing the file")

// A FileError is a problem with a configuration file, which was not changed.
type FileError struct {
	File string
	Err  error
}

func (e *FileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// A configFile is a configuration file as it was read.
type configFile struct {
	path   string // through all symbolic links
	exists bool
	mode   fs.FileMode // permission bits
	text   []byte
}

// readFile reads a file through symbolic links. A file that does not exist is empty.
func readFile(path string) (configFile, error) {
	f := configFile{path: path}
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if f.path, err = filepath.EvalSymlinks(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return f, errors.New("the symbolic link leads to a file that does not exist")
		}
		return f, err
	}
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		return f, err
	case !info.Mode().IsRegular():
		return f, errors.New("not a regular file")
	case info.Size() > maxFile:
		return f, fmt.Errorf("the file is larger than %d MiB", maxFile>>20)
	}
	f.exists, f.mode = true, info.Mode().Perm()
	f.text, err = os.ReadFile(f.path)
	return f, err
}

// makeDirs creates the directory of a file, and returns the directories that it created,
// the outermost first.
func makeDirs(file string) (created []string, err error) {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		created = append([]string{dir}, created...)
	}
	return created, os.MkdirAll(filepath.Dir(file), 0o755)
}

// replace replaces the content of the file, if it is still as it was read. It keeps the
// file's mode; a new file has mode.
func (f configFile) replace(text []byte, mode fs.FileMode) error {
	if f.exists {
		mode = f.mode
	}
	root, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(f.path)
	temp := "." + base + "." + rand.Text()[:10] + ".tmp"
	if err := durable.WriteTemp(root, temp, mode, content(text)); err != nil {
		return err
	}
	now, err := readFile(f.path)
	if err == nil && (now.exists != f.exists || !bytes.Equal(now.text, f.text)) {
		err = errChanged
	}
	if err == nil {
		err = root.Rename(temp, base)
	}
	if err != nil {
		_ = root.Remove(temp)
		return err
	}
	return durable.SyncDir(root, ".")
}

// remove removes the file, if it is still as it was read, and those of the directories
// that are empty then.
func (f configFile) remove(dirs []string) error {
	now, err := readFile(f.path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now.text, f.text) {
		return errChanged
	}
	if err := os.Remove(f.path); err != nil {
		return err
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if os.Remove(dirs[i]) != nil {
			break // in use by now
		}
	}
	return nil
}

func content(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

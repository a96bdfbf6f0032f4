package setup

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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

// replace replaces the content of the file, if it is still as it was read, and creates its
// directories. The file keeps its mode. A new one is for the user alone, unless it is shared.
func (f configFile) replace(text []byte, shared bool) error {
	mode := fs.FileMode(0o600)
	if shared {
		mode = 0o644
	}
	if f.exists {
		mode = f.mode
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(f.path)
	durable.RemoveAbandoned(root, ".", func(name string) bool { return durable.IsTemp(name, base) })
	temp := "." + base + "-" + rand.Text() + ".tmp"
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

// remove removes the file, if it is still as it was read, and the directories that are empty
// then, up to one that is kept.
func (f configFile) remove(kept ...string) error {
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
	for dir := filepath.Dir(f.path); !slices.Contains(kept, dir) && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	return nil
}

func content(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// copyName returns how the name of a copy of a file ends.
func copyName(file string) string {
	sum := sha256.Sum256([]byte(file))
	return "-" + hex.EncodeToString(sum[:4]) + "-" + filepath.Base(file)
}

// keepCopy copies a file before it is changed, readable by the user only, and returns where.
func (s Setup) keepCopy(f configFile) (string, error) {
	dir := filepath.Join(s.Data, "copies")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := s.Now().UTC().Format("20060102-150405.000000000") + copyName(f.path)
	return filepath.Join(dir, name), durable.WriteFile(root, name, 0o600, content(f.text))
}

// copies returns the latest copies of a file, the newest first.
func (s Setup) copies(file string) (texts [][]byte) {
	const most = 20
	names, _ := filepath.Glob(filepath.Join(s.Data, "copies", "*"+copyName(file)))
	slices.Sort(names)
	for _, name := range slices.Backward(names[max(0, len(names)-most):]) {
		if f, err := readFile(name); err == nil && f.exists {
			texts = append(texts, append([]byte{}, f.text...))
		}
	}
	return texts
}

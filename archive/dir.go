package archive

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
)

// A Dir is a directory with a folder for each session:
//
//	{dir}/{id}/session.json
//	{dir}/@{owner}/{id}/session.json
//
// Characters of an id that a file system could interpret are escaped. Directories
// are created when they are needed, with mode 0700.
type Dir string

const (
	fileName   = "session.json"
	tempPrefix = ".session-"
	tempSuffix = ".tmp"
)

// WriteSession writes or replaces the file of a session. After it returns nil, the
// complete file is on disk. After an error the previous file is unchanged, unless
// flushing the folder failed. Several processes can write the same file: each version
// comes from one of them.
func (d Dir) WriteSession(s *sequent.Session) error {
	if err := d.writeSession(s); err != nil {
		return fmt.Errorf("archive: write the file of a session: %w", err)
	}
	return nil
}

func (d Dir) writeSession(s *sequent.Session) (err error) {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer closing(root.Close, &err)
	name := folder(s.Key())
	if err := makeFolder(root, name); err != nil {
		return err
	}
	// From here on the folder cannot be replaced by a link.
	session, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer closing(session.Close, &err)
	durable.RemoveAbandoned(session, ".", isTemp)
	return replace(session, s)
}

// File returns the path of the session's file, or "" if it does not exist.
func (d Dir) File(k sequent.Key) (string, error) {
	root, err := os.OpenRoot(string(d))
	if err == nil {
		defer root.Close() //nolint:errcheck // it only reads
		_, err = root.Lstat(path.Join(folder(k), fileName))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("archive: find the file of a session: %w", err)
	}
	return filepath.Join(string(d), filepath.FromSlash(folder(k)), fileName), nil
}

// Remove removes the session's file, its signature, what a writer that was killed has
// left of it, and the folder if that is empty then. It does nothing if there is no file.
func (d Dir) Remove(k sequent.Key) error {
	if err := d.remove(folder(k)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("archive: remove the file of a session: %w", err)
	}
	return nil
}

func (d Dir) remove(name string) (err error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return err
	}
	defer closing(root.Close, &err)
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == fileName || e.Name() == fileName+".sig" || isTemp(e.Name()) {
			if err := root.Remove(path.Join(name, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := durable.SyncDir(root, name); err != nil {
		return err
	}
	if root.Remove(name) != nil {
		return nil // the folder has other files
	}
	return durable.SyncDir(root, path.Dir(name))
}

// OwnerFiles returns how many folders of sessions an owner has.
func (d Dir) OwnerFiles(owner string) (int, error) {
	entries, err := os.ReadDir(filepath.Join(string(d), ownersFolder(owner)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("archive: find the files of an owner: %w", err)
	}
	return len(entries), nil
}

// RenameOwner makes the files of an owner those of another one, and returns how many
// folders of sessions it has moved. A session of which the new owner has a file keeps it,
// and the other stays where it is. Neither owner is the local user.
func (d Dir) RenameOwner(from, to string) (moved int, err error) {
	moved, err = d.renameOwner(ownersFolder(from), ownersFolder(to))
	if err != nil {
		return moved, fmt.Errorf("archive: move the files of an owner: %w", err)
	}
	return moved, nil
}

func (d Dir) renameOwner(from, to string) (moved int, err error) {
	root, err := os.OpenRoot(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer closing(root.Close, &err)
	entries, err := fs.ReadDir(root.FS(), from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return 0, nil
	}
	if err == nil {
		err = makeFolder(root, to)
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		target := path.Join(to, e.Name())
		if _, err := root.Lstat(target); err == nil {
			continue
		}
		if err := root.Rename(path.Join(from, e.Name()), target); err != nil {
			return moved, err
		}
		moved++
	}
	_ = root.Remove(from) // unless it has files
	return moved, errors.Join(durable.SyncDir(root, to), durable.SyncDir(root, "."))
}

// isTemp reports whether a file is one that replace writes.
func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// open opens the directory, and creates it if necessary.
func (d Dir) open() (*os.Root, error) {
	root, err := os.OpenRoot(string(d))
	if !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	if err := durable.SyncPath(filepath.Dir(string(d))); err != nil {
		return nil, err
	}
	return os.OpenRoot(string(d))
}

// makeFolder creates a folder and its parents, and flushes their names to disk.
func makeFolder(root *os.Root, name string) error {
	if parent := path.Dir(name); parent != "." {
		if err := makeFolder(root, parent); err != nil {
			return err
		}
	}
	if err := root.Mkdir(name, 0o700); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	return durable.SyncDir(root, path.Dir(name))
}

// replace writes the file of a session to a temporary file and renames it.
func replace(folder *os.Root, s *sequent.Session) error {
	temp := tempPrefix + rand.Text() + tempSuffix
	if err := durable.WriteTemp(folder, temp, 0o600, func(w io.Writer) error { return writeSessionFile(w, s) }); err != nil {
		return err
	}
	if err := folder.Rename(temp, fileName); err != nil {
		_ = folder.Remove(temp)
		return err
	}
	return durable.SyncDir(folder, ".")
}

// closing adds the error of close to a function's error, if that is nil.
func closing(close func() error, err *error) {
	if e := close(); *err == nil {
		*err = e
	}
}

package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

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

const fileName = "session.json"

// WriteSession writes or replaces the file of a session. After it returns nil, the
// complete file is on disk. After an error the previous file is unchanged, unless
// flushing the folder failed. Several processes can write the same file: each version
// comes from one of them.
func (d Dir) WriteSession(s *sequent.Session) error {
	name := folder(s.Key())
	return d.open("write the file of a session", func(root *os.Root) error {
		if err := makeFolder(root, name); err != nil {
			return err
		}
		return durable.WriteFile(root, path.Join(name, fileName), 0o600, func(w io.Writer) error { return writeSessionFile(w, s) })
	})
}

// File returns the path of the session's file, or "" if it does not exist.
func (d Dir) File(k sequent.Key) (file string, err error) {
	name := path.Join(folder(k), fileName)
	err = d.inside("find the file of a session", func(root *os.Root) error {
		_, err := root.Lstat(name)
		if err == nil {
			file = filepath.Join(string(d), filepath.FromSlash(name))
		}
		return err
	})
	return file, err
}

// Remove removes the session's file, its signature, what a writer that was killed has
// left of it, and the folder if that is empty then. It does nothing if there is no file.
func (d Dir) Remove(k sequent.Key) error {
	name := folder(k)
	return d.inside("remove the file of a session", func(root *os.Root) error {
		entries, err := fs.ReadDir(root.FS(), name)
		for _, e := range entries {
			if e.Name() == fileName || e.Name() == fileName+".sig" || durable.IsTemp(e.Name(), fileName) {
				err = errors.Join(err, root.Remove(path.Join(name, e.Name())))
			}
		}
		if err != nil {
			return err
		}
		if err := durable.SyncDir(root, name); err != nil || root.Remove(name) != nil {
			return err // the folder has other files
		}
		return durable.SyncDir(root, path.Dir(name))
	})
}

// OwnerFiles returns how many folders of sessions an owner has.
func (d Dir) OwnerFiles(owner string) (n int, err error) {
	err = d.inside("find the files of an owner", func(root *os.Root) error {
		entries, err := fs.ReadDir(root.FS(), ownersFolder(owner))
		n = len(entries)
		return err
	})
	return n, err
}

// RenameOwner makes the files of an owner those of another one, and returns how many
// folders of sessions it has moved. A session of which the new owner has a file keeps it,
// and the other stays where it is. Neither owner is the local user.
func (d Dir) RenameOwner(from, to string) (moved int, err error) {
	from, to = ownersFolder(from), ownersFolder(to)
	err = d.inside("move the files of an owner", func(root *os.Root) error {
		entries, err := fs.ReadDir(root.FS(), from)
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := makeFolder(root, to); err != nil {
			return err
		}
		for _, e := range entries {
			switch err := root.Rename(path.Join(from, e.Name()), path.Join(to, e.Name())); {
			case err == nil:
				moved++
			case !errors.Is(err, fs.ErrExist):
				return err
			}
		}
		_ = root.Remove(from) // unless it has files
		return errors.Join(durable.SyncDir(root, to), durable.SyncDir(root, "."))
	})
	return moved, err
}

// open calls do with the directory, which it creates if necessary.
func (d Dir) open(what string, do func(*os.Root) error) error {
	if _, err := os.Stat(string(d)); errors.Is(err, fs.ErrNotExist) {
		if err := errors.Join(os.MkdirAll(string(d), 0o700), durable.SyncPath(filepath.Dir(string(d)))); err != nil {
			return fmt.Errorf("archive: %s: %w", what, err)
		}
	}
	root, err := os.OpenRoot(string(d))
	if err == nil {
		err = errors.Join(do(root), root.Close())
	}
	if err != nil {
		return fmt.Errorf("archive: %s: %w", what, err)
	}
	return nil
}

// inside calls do with the directory if that exists. What do finds missing is no error.
func (d Dir) inside(what string, do func(*os.Root) error) error {
	if _, err := os.Stat(string(d)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := d.open(what, do); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeFolder creates a folder and its parents, and flushes their names to disk.
func makeFolder(root *os.Root, name string) error {
	if info, err := root.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	if err := root.MkdirAll(name, 0o700); err != nil {
		return err
	}
	for ; name != "."; name = path.Dir(name) {
		if err := durable.SyncDir(root, path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

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

// WriteSession writes or replaces the file of a session, as [durable.WriteFile] does. Several processes can write the
// same file: each version comes from one of them.
func (d Dir) WriteSession(s *sequent.Session) error {
	if _, err := os.Stat(string(d)); errors.Is(err, fs.ErrNotExist) {
		if err := errors.Join(os.MkdirAll(string(d), 0o700), durable.SyncPath(filepath.Dir(string(d)))); err != nil {
			return fmt.Errorf("archive: create the folder of sessions: %w", err)
		}
	}
	name := folder(s.Key())
	return d.in(func(root *os.Root) error {
		if err := makeFolder(root, name); err != nil {
			return err
		}
		return durable.WriteFile(root, path.Join(name, fileName), 0o600, func(w io.Writer) error {
			_, err := w.Write(SessionFile(s))
			return err
		})
	})
}

// File returns the path of the session's file, or "" if it does not exist.
func (d Dir) File(k sequent.Key) (string, error) {
	file := filepath.Join(string(d), filepath.FromSlash(folder(k)), fileName)
	if _, err := os.Lstat(file); err != nil {
		return "", found(err)
	}
	return file, nil
}

// Remove removes the session's file, its signature, what a writer that was killed has
// left of it, and the folder if that is empty then. It does nothing if there is no file.
func (d Dir) Remove(k sequent.Key) error {
	name := folder(k)
	return found(d.in(func(root *os.Root) error {
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
	}))
}

// RenameOwner makes the files of an owner those of another one, and returns how many
// folders of sessions it has moved, or would move if the run is dry. A session of which the new owner has a file keeps
// it, and the other stays where it is. Neither owner is the local user.
func (d Dir) RenameOwner(from, to string, dryRun bool) (moved int, err error) {
	from, to = ownersFolder(from), ownersFolder(to)
	err = d.in(func(root *os.Root) error {
		entries, err := fs.ReadDir(root.FS(), from)
		if moved = len(entries); err != nil || moved == 0 || dryRun {
			return err
		}
		moved = 0
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
	return moved, found(err)
}

// in calls do with the directory.
func (d Dir) in(do func(*os.Root) error) error {
	root, err := os.OpenRoot(string(d))
	if err == nil {
		err = errors.Join(do(root), root.Close())
	}
	if err != nil {
		return fmt.Errorf("archive: session files in %s: %w", string(d), err)
	}
	return nil
}

// found returns an error, or nil if it says that something does not exist.
func found(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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

package archive

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// A Dir is a directory with a folder for each session:
//
//	{dir}/{id}/session.json
//	{dir}/@{owner}/{id}/session.json
//
// Characters of an id that could mean something to a file system are escaped.
// Directories are made when they are needed, for their owner alone.
type Dir string

const (
	fileName   = "session.json"
	tempPrefix = ".session-"
	tempSuffix = ".tmp"
)

// abandoned is how old a temporary file is that nobody writes any more: its
// process has been killed.
const abandoned = time.Hour

// WriteSession writes a session's file, or replaces it. When it returns nil the
// file is on disk and whole; when it returns an error the file is as it was
// before, whole as well, but for a failure after the last step. Several processes
// may write the same file: each time all of it is one writer's.
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
	// A root again, so that what happens to the folder's path from here on, a
	// link put in its place, concerns somebody else.
	session, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer closing(session.Close, &err)
	sweep(session)
	return replace(session, s)
}

// open returns the directory, making it if there is none.
func (d Dir) open() (*os.Root, error) {
	root, err := os.OpenRoot(string(d))
	if !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	if err := syncPath(filepath.Dir(string(d))); err != nil {
		return nil, err
	}
	return os.OpenRoot(string(d))
}

// makeFolder makes a folder and those above it, and sees to it that their
// names are on disk.
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
	return syncFolder(root, path.Dir(name))
}

// sweep removes what writers left behind that were killed. What cannot be
// removed is in nobody's way.
func sweep(folder *os.Root) {
	entries, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix) {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
				_ = folder.Remove(name)
			}
		}
	}
}

// replace writes a session's file beside the old one and puts it in its place.
func replace(folder *os.Root, s *sequent.Session) (err error) {
	temp := tempPrefix + rand.Text() + tempSuffix
	f, err := folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = folder.Remove(temp) // as well as can be
		}
	}()
	err = writeSessionFile(f, s)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if err := folder.Rename(temp, fileName); err != nil {
		return err
	}
	return syncFolder(folder, ".")
}

// closing closes something at the end of a function that reports errors.
func closing(close func() error, err *error) {
	if e := close(); *err == nil {
		*err = e
	}
}

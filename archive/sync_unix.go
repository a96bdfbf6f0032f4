//go:build !windows

package archive

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder sees to it that the names in a folder are on disk.
func syncFolder(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(f)
}

// syncPath is syncFolder for a folder outside any root.
func syncPath(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(f)
}

func syncAndClose(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil // some network file systems do not sync folders; there is nothing more to do
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

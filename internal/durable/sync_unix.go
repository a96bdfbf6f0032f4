//go:build !windows

package durable

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir flushes the names in a directory to disk.
func SyncDir(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(f)
}

// SyncPath is [SyncDir] for a directory outside a root.
func SyncPath(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return syncAndClose(f)
}

func syncAndClose(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil // some network file systems cannot flush directories
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

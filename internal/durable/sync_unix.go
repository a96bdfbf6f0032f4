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
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil // some network file systems cannot flush directories
	}
	return errors.Join(err, f.Close())
}

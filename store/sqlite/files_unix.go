//go:build unix

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// isFull reports whether err means that the disk or quota is full.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// isReadOnly reports whether err means that write permission is missing.
func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS)
}

// readable reports whether this process may read a file. It does not open the
// file, for the reason given at create.
func readable(path string) bool { return unix.Access(path, unix.R_OK) == nil }

// writable reports whether this process may write to a file or directory.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// writableDir reports whether this process may create files in a directory.
func writableDir(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// freeSpace returns the free space for this process in a directory, in bytes.
func freeSpace(dir string) (uint64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), nil
}

//go:build unix

package vault

import (
	"errors"
	"io/fs"
	"syscall"
)

// openFlags refuse a symbolic link that has replaced a file, and do not wait for the
// other end of a pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// noLinks reports whether an error means that the file system has no hard links.
func noLinks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EMLINK)
}

package vault

import (
	"errors"
	"io/fs"
	"syscall"
)

const openFlags = 0

const (
	errorHandleDiskFull  = syscall.Errno(39)
	errorWriteProtect    = syscall.Errno(19)
	errorDiskFull        = syscall.Errno(112)
	errorNotSupported    = syscall.Errno(50)
	errorInvalidFunction = syscall.Errno(1)
)

func isFull(err error) bool {
	return errors.Is(err, errorDiskFull) || errors.Is(err, errorHandleDiskFull)
}

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errorWriteProtect)
}

func noLinks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, errorNotSupported) || errors.Is(err, errorInvalidFunction)
}

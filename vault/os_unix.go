//go:build unix

package vault

import "syscall"

// openFlags refuse a symbolic link that has replaced a file, and do not wait for the
// other end of a pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

const (
	errDiskFull  = syscall.ENOSPC
	errQuotaFull = syscall.EDQUOT
	errReadOnly  = syscall.EROFS
)

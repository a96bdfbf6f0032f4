package vault

import "syscall"

const openFlags = 0

const (
	errDiskFull  = syscall.Errno(112) // ERROR_DISK_FULL
	errQuotaFull = syscall.Errno(39)  // ERROR_HANDLE_DISK_FULL
	errReadOnly  = syscall.Errno(19)  // ERROR_WRITE_PROTECT
)

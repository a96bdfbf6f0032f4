//go:build unix

package mcpserver

import "syscall"

// openFiles returns how many files and connections the process may have open. Go
// raises the limit to the highest that is allowed when a program starts.
func openFiles() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<30 {
		return 1 << 30
	}
	return int64(limit.Cur)
}

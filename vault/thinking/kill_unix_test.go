//go:build unix

package thinking_test

import "syscall"

// kill ends a process at once. It returns when that is this process only if it
// cannot.
func kill(pid int) {
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if pid == syscall.Getpid() {
		select {}
	}
}

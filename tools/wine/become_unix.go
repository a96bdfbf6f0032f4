//go:build !windows

package main

import "syscall"

// become replaces the process, so that signals reach Wine and the exit code is that of the
// program.
func become(program string, args, env []string) (code int, err error) {
	return 0, syscall.Exec(program, args, env)
}

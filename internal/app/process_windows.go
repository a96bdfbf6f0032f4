package app

import (
	"os/exec"
	"syscall"
)

// setProcessGroup starts a program in a process group of its own, so that Ctrl-C in
// the terminal reaches this program only, which then stops the other.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

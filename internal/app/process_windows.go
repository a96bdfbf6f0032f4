package app

import (
	"os/exec"
	"syscall"
)

// setProcessGroup makes a command start in a new process group, so that Ctrl-C reaches
// only this program, which then ends the command.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

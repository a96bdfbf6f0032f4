package app

import (
	"os/exec"
	"syscall"
)

// apart keeps a Ctrl-C on the terminal from a program that we start: it is for us,
// and we end what we have started.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

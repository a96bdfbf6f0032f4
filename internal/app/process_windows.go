package app

import (
	"os/exec"
	"syscall"
)

// shell returns what runs a command line. It starts in a new process group, so that Ctrl-C reaches
// only this program, which then ends the command.
func shell(line string) *exec.Cmd {
	cmd := exec.Command("cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `/s /c "` + line + `"`, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	return cmd
}

// killRest does nothing: Windows has no signal for a group.
func killRest(*exec.Cmd) {}

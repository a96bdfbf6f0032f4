//go:build !windows

package app

import (
	"os/exec"
	"syscall"
)

// shell returns what runs a command line. It starts in a new process group, so that Ctrl-C reaches
// only this program, which then ends the command.
func shell(line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// killRest kills what a command line whose shell has ended has left running.
func killRest(cmd *exec.Cmd) {
	if cmd.Process != nil { // it was started
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // most leave nothing
	}
}

//go:build !windows

package command

import (
	"os/exec"
	"syscall"
	"testing"
)

// stopKills means that stop kills the process.
const stopKills = false

// stop sends SIGTERM to a process.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

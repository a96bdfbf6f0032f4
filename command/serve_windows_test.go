package command

import (
	"os/exec"
	"testing"
)

// stopKills means that stop kills the process.
const stopKills = true

// stop kills a process, because Windows has no signal that another process can send.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

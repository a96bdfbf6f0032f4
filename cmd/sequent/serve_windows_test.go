package main

import (
	"os/exec"
	"testing"
)

// stopsHard says that stop leaves a process no time to end well.
const stopsHard = true

// stop ends a process: Windows has no signal that another process could send.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

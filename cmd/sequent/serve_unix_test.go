//go:build !windows

package main

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stopsHard says that stop leaves a process no time to end well.
const stopsHard = false

// stop tells a process to end.
func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// A server that is told to end answers what it has read, records all of that and
// nothing else, and exits with 0, while its input is still open.
func TestServeFinishesAtSIGTERM(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "s.db")
	cmd := exec.Command("sequent", "serve", "--sync", "normal", "--store", store)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // until the server does not read any more
		err := request(in, "%s\n%s", initialize, initialized)
		for i := 1; err == nil && i <= 3_000; i++ {
			err = request(in, oneThought, i, i)
		}
	}()
	replies := 0
	for s := bufio.NewScanner(out); s.Scan(); replies++ {
		if strings.Contains(s.Text(), `"error"`) {
			t.Errorf("reply %d: %s", replies, s.Text())
		}
		if replies == 50 {
			stop(t, cmd)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v, want exit code 0", err)
	}
	if n := recorded(t, store); n != replies-1 {
		t.Errorf("%d thoughts are recorded and %d acknowledged", n, replies-1)
	}
	if replies < 52 { // what was in the pipe when it was told to end is answered, too
		t.Errorf("there are %d replies only", replies)
	}
}

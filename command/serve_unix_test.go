//go:build !windows

package command

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
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

// After SIGTERM a server answers the requests that it has read and exits with code
// 0, although its input is still open. Exactly the acknowledged thoughts are recorded.
func TestServeSIGTERM(t *testing.T) {
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
	go func() { // until the server stops reading
		err := request(in, "%s\n%s", initialize, initialized)
		for i := 1; err == nil && i <= 3_000; i++ {
			err = request(in, oneThought, i)
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
		t.Errorf("the server ended with %v, want exit code 0", err)
	}
	// On a slow machine the last call is cancelled, which may have been recorded.
	if n := recorded(t, store); n < replies-1 || n > replies {
		t.Errorf("got %d recorded and %d acknowledged thoughts", n, replies-1)
	}
	if replies < 52 { // includes requests that were in the pipe at the signal
		t.Errorf("got only %d replies", replies)
	}
}

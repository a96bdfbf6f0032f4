//go:build unix

package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A FIFO to which nothing writes does not hang a command: it is refused, and where it is standard input, SIGTERM ends
// the command.
func TestFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	stdin, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that it does not end
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, args := range [][]string{{"import", fifo}, {"serve", "--http", "127.0.0.1:0", "--auth", fifo}, {"doctor", "--auth", fifo}, {"import", "-"}} {
		cmd := exec.CommandContext(ctx, "sequent", append(args, "--store", filepath.Join(dir, "s.db"))...)
		var out strings.Builder
		cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = cmd.Wait() }()
		want := "not a regular file"
		for waits := args[1] == "-"; waits; {
			want = "cancel"
			select {
			case <-ended:
				waits = false
			case <-time.After(100 * time.Millisecond):
				_ = cmd.Process.Signal(syscall.SIGTERM) // again, if the program did not handle it yet
			}
		}
		<-ended
		signaled := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGTERM // before the program handles it
		if ctx.Err() != nil || !signaled && (cmd.ProcessState.ExitCode() <= 0 || !strings.Contains(out.String(), want)) {
			t.Errorf("%s: it ended with %v and %q, want %q", args, cmd.ProcessState, out.String(), want)
		}
	}
}

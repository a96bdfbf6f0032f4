//go:build unix

package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A FIFO that nothing writes to does not hang a command: it is refused, and where it
// is standard input, SIGTERM ends the command.
func TestFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "s.db")
	for _, test := range []struct {
		name  string
		args  []string
		stdin bool   // the FIFO is standard input
		want  string // in the output
	}{
		{"import", []string{"import", fifo, "--store", store}, false, "not a regular file"},
		{"auth", []string{"serve", "--http", "127.0.0.1:0", "--auth", fifo, "--store", store}, false, "not a regular file"},
		{"doctor", []string{"doctor", "--auth", fifo, "--store", store}, false, "not a regular file"},
		{"import of standard input", []string{"import", "-", "--store", store}, true, "cancel"}, // while it reads, or while it still opens the store
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command("sequent", test.args...)
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if test.stdin {
				in, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that it does not end
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				cmd.Stdin = in
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			// SIGTERM before the program handles it ends it, too. So it is sent until then.
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			deadline := time.After(30 * time.Second)
			for {
				select {
				case err := <-ended:
					exit, ok := errors.AsType[*exec.ExitError](err)
					if !ok || exit.ExitCode() <= 0 && !test.stdin {
						t.Errorf("it ended with %v, want an exit code", err)
					}
					if exit.ExitCode() > 0 && !strings.Contains(out.String(), test.want) {
						t.Errorf("got %q, want %q", out.String(), test.want)
					}
					return
				case <-tick.C:
					if test.stdin {
						_ = cmd.Process.Signal(syscall.SIGTERM)
					}
				case <-deadline:
					_ = cmd.Process.Kill()
					t.Fatal("it hangs")
				}
			}
		})
	}
}

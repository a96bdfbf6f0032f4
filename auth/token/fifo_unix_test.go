//go:build unix

package token

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Opening a FIFO that nothing writes to would block until the process is killed.
func TestFIFOAndDevice(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "tokens")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, "/dev/zero"} {
		done := make(chan error, 1)
		go func() {
			_, err := Open(Config{Path: path})
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, errNotRegular) {
				t.Errorf("%s: got %v", path, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: Open blocks", path)
		}
	}
}

//go:build unix

package archive_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// Opening a FIFO that nothing writes to would block until the process is killed.
func TestFIFOAndDevice(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "session.json")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	im := &archive.Importer{Engine: sequent.New(sequent.Config{})}
	for _, path := range []string{fifo, "/dev/zero"} {
		var got []archive.Result
		done := make(chan error, 1)
		go func() {
			err := im.Import(t.Context(), path, func(r archive.Result) { got = append(got, r) })
			done <- err
		}()
		select {
		case err := <-done:
			if err != nil || len(got) != 1 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "not a regular file") {
				t.Errorf("%s: got %+v, %v", path, got, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the import blocks", path)
		}
	}
}

package sqlite

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// A lock file that is deleted while it is open is made anew, so that processes
// that come later take turns with those that were there.
func TestDeletedLockFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be deleted")
	}
	path := filepath.Join(t.TempDir(), "lock")
	a, b := newFileLock(path), newFileLock(path)
	defer a.close()
	defer b.close()
	for range 3 {
		if err := a.acquire(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if err := a.release(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := b.acquire(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if err := a.acquire(t.Context(), 50*time.Millisecond); err == nil {
			t.Error("two have the lock")
		}
		if err := b.release(); err != nil {
			t.Fatal(err)
		}
	}
}

package sqlite

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// After the lock file was deleted, a process that has it open and one that opens a
// new one still exclude each other.
func TestDeletedLockFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove open files")
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
			t.Error("both hold the lock")
		}
		if err := b.release(); err != nil {
			t.Fatal(err)
		}
	}
}

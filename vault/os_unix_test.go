//go:build unix

package vault_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

const onWindows = false

// makeSpecial creates a pipe, a socket and a device, and returns their names.
func makeSpecial(t *testing.T, dir string) []string {
	t.Helper()
	for _, name := range []string{"pipe.md", "folder-pipe"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"pipe", "folder-pipe/x"}
	// Socket paths are limited in length, and TempDir may be longer.
	short, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := os.Rename(filepath.Join(short, "s"), filepath.Join(dir, "socket.md")); err == nil {
		names = append(names, "socket")
	}
	if err := syscall.Mknod(filepath.Join(dir, "device.md"), syscall.S_IFCHR|0o600, 1<<8|3); err == nil {
		names = append(names, "device") // root may
	}
	return names
}

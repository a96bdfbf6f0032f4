//go:build unix

package vault_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

const onWindows = false

// makeSpecial creates pipes, which stand for all files that are not regular, and returns their names.
func makeSpecial(t *testing.T, dir string) []string {
	t.Helper()
	for _, name := range []string{"pipe.md", "folder-pipe"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"pipe", "folder-pipe/x"}
}

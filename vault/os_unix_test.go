//go:build unix

package vault_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
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

// Another hard link of a note may be a backup and stays unchanged.
func TestHardLinks(t *testing.T) {
	v, dir := open(t)
	put(t, dir, "a.md", "one\n")
	backup := filepath.Join(t.TempDir(), "a.md")
	if err := os.Link(filepath.Join(dir, "a.md"), backup); err != nil {
		t.Skipf("SKIP: no hard links here: %v", err)
	}
	err := v.Hold(t.Context(), "memory://a", func(h *vault.Held) error { return second(h.Append("two\n", vault.Info{})) })
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, filepath.Dir(backup), "a.md"); got != "one\n" {
		t.Errorf("the other name has %q", got)
	}
	if got := get(t, dir, "a.md"); got != "one\ntwo\n" {
		t.Errorf("the note has %q", got)
	}
}

func TestReadOnlyNote(t *testing.T) {
	v, dir := open(t)
	put(t, dir, "a.md", "one\n")
	if err := os.Chmod(filepath.Join(dir, "a.md"), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Read(t.Context(), "memory://a"); err != nil {
		t.Error(err)
	}
	for _, err := range []error{
		second(v.Update(t.Context(), "memory://a", func(n *vault.Note) error { n.Body = "two"; return nil })),
		v.Hold(t.Context(), "memory://a", func(h *vault.Held) error { return second(h.Append("two", vault.Info{})) }),
	} {
		if sequent.CodeOf(err) != vault.CodeReadOnly {
			t.Errorf("%v", err)
		}
	}
}

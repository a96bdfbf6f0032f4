package thinking_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// faultDir is the variable with the folder of the child of TestDiskFaults.
const faultDir = "SEQUENT_TEST_FAULTS"

// Disk errors are reported, harm nothing, and are made up for later. The test runs in a
// process with a mount namespace, which needs no root on systems with user namespaces.
func TestDiskFaults(t *testing.T) {
	const get = "run as root, or allow user namespaces"
	if dir := os.Getenv(faultDir); dir != "" {
		err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		if err == nil {
			err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k")
		}
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			needtest.Missing(t, "the right to mount", get)
		}
		if err != nil {
			t.Fatal(err)
		}
		diskFaults(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiskFaults$", "-test.v")
	cmd.Env = append(os.Environ(), faultDir+"="+t.TempDir())
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && len(out) == 0:
		needtest.Missing(t, fmt.Sprintf("a mount namespace (%v)", err), get)
	case strings.Contains(string(out), "--- SKIP"):
		needtest.Missing(t, "the right to mount", get)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

func diskFaults(t *testing.T, dir string) {
	d := newDesk(t)
	d.dir, d.files = dir, openFiles(t, dir)
	think := func() sequent.Code {
		s := d.commit(sessionID, thought(sequent.Draft{Text: strings.Repeat("word ", 500)}))
		_, err := d.files.Write(t.Context(), s)
		return sequent.CodeOf(err)
	}
	want := func(what string, got, want sequent.Code) {
		t.Helper()
		if got != want {
			t.Fatalf("%s: %q, want %q", what, got, want)
		}
	}
	remount := func(flags uintptr) {
		t.Helper()
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT|flags, "size=256k"); err != nil {
			t.Fatal(err)
		}
	}
	want("a thought", think(), "")

	remount(unix.MS_RDONLY)
	want("read-only", think(), vault.CodeReadOnly)
	_, err := d.files.Sync(t.Context(), d.engine, false)
	want("a sync", sequent.CodeOf(err), vault.CodeReadOnly)
	d.read()
	remount(0)
	if r := d.sync(false); r.Notes != 1 {
		t.Errorf("a sync afterwards gives %+v", r)
	}

	// The disk runs full in the middle of a note.
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	for err := sequent.Code(""); err == ""; {
		if err = think(); err != "" {
			want("a full disk", err, vault.CodeFull)
		}
	}
	before := d.read()
	want("still full", think(), vault.CodeFull)
	if d.read() != before {
		t.Error("a refused write has changed the note")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	want("with space again", think(), "")
	d.wantSame()
	s := must(d.engine.Session(t.Context(), sessionID))
	if n := len(thinking.Sections(d.read())); n != s.Len() {
		t.Errorf("%d sections of %d thoughts", n, s.Len())
	}
}

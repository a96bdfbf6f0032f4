package thinking_test

import (
	"context"
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

var systemTasks = map[string]func(context.Context) error{"faults": faultsTask}

// Disk errors are reported, harm nothing, and are made up for later. The test runs in a
// process with a mount namespace, which needs no root on systems with user namespaces.
func TestDiskFaults(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childTask+"=faults", childDir+"="+t.TempDir())
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	const get = "run as root, or allow user namespaces"
	switch {
	case err != nil && len(out) == 0:
		needtest.Missing(t, fmt.Sprintf("a mount namespace (%v)", err), get)
	case strings.Contains(string(out), "cannot mount"):
		needtest.Missing(t, "the right to mount", get)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

func faultsTask(ctx context.Context) error {
	dir := os.Getenv(childDir)
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k")
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("cannot mount: %w", err)
	}
	if err != nil {
		return err
	}
	v, err := vault.Open(vault.Config{Dir: dir})
	if err != nil {
		return err
	}
	files := thinking.New(v)
	engine := sequent.New(sequent.Config{})
	think := func() (*sequent.Session, error) {
		s, err := engine.Ensure(ctx, sessionID, thought(sequent.Draft{Text: strings.Repeat("word ", 500)}))
		if err != nil {
			return nil, err
		}
		_, err = files.Write(ctx, s)
		return s, err
	}
	if _, err := think(); err != nil {
		return err
	}
	if err := readOnly(ctx, dir, v, files, engine, think); err != nil {
		return fmt.Errorf("read-only: %w", err)
	}

	// The disk runs full in the middle of a section.
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 64<<10), 0o600); err != nil {
		return err
	}
	good := 0
	for {
		if _, err = think(); err != nil {
			break
		}
		good++
	}
	for range 3 {
		if sequent.CodeOf(err) != vault.CodeFull {
			return fmt.Errorf("on a full disk, after %d thoughts: %w", good, err)
		}
		_, err = think()
	}
	if err := v.Create(ctx, &vault.Note{URI: "memory://new", Body: strings.Repeat("x", 100<<10)}); sequent.CodeOf(err) != vault.CodeFull {
		return fmt.Errorf("a new note on a full disk: %w", err)
	}
	before, err := v.Read(ctx, sessionURI)
	if err != nil {
		return err
	}
	_, err = v.Update(ctx, sessionURI, func(n *vault.Note) error { n.Body = strings.Repeat("y", 100<<10); return nil })
	if sequent.CodeOf(err) != vault.CodeFull {
		return fmt.Errorf("an update on a full disk: %w", err)
	}
	if after, err := v.Read(ctx, sessionURI); err != nil || after.Body != before.Body {
		return fmt.Errorf("the refused update has changed the note: %w", err)
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	s, err := think()
	if err != nil {
		return fmt.Errorf("with space again: %w", err)
	}
	return whole(ctx, v, files, engine, s)
}

const sessionURI = vault.URI("memory://" + fileName)

// readOnly makes the disk read-only during f.
func readOnly(ctx context.Context, dir string, v *vault.Vault, files *thinking.Files, engine *sequent.Engine, think func() (*sequent.Session, error)) error {
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	for range 2 {
		if s, err := think(); sequent.CodeOf(err) != vault.CodeReadOnly || s == nil {
			return fmt.Errorf("a thought: %w", err)
		}
	}
	if _, err := files.Sync(ctx, engine, thinking.Options{}); sequent.CodeOf(err) != vault.CodeReadOnly {
		return fmt.Errorf("sync: %w", err)
	}
	if _, err := v.Read(ctx, sessionURI); err != nil {
		return err
	}
	if _, err := vault.Open(vault.Config{Dir: dir}); err != nil {
		return err
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "size=256k"); err != nil {
		return err
	}
	r, err := files.Sync(ctx, engine, thinking.Options{})
	if err != nil || r.Notes != 1 {
		return fmt.Errorf("sync afterwards: %+v, %w", r, err)
	}
	return nil
}

// whole checks that the file has the whole session.
func whole(ctx context.Context, v *vault.Vault, files *thinking.Files, engine *sequent.Engine, s *sequent.Session) error {
	if r, err := files.Sync(ctx, engine, thinking.Options{}); err != nil || r.Notes > 0 || len(r.Failed) > 0 {
		return fmt.Errorf("sync: %+v, %w", r, err)
	}
	n, err := v.Read(ctx, sessionURI)
	if err != nil {
		return err
	}
	list := thinking.Sections(n.Body)
	if len(list) != s.Len() {
		return fmt.Errorf("%d sections of %d thoughts", len(list), s.Len())
	}
	for i, sec := range list {
		if th, _ := s.At(i + 1); sec.Seq != i+1 || strings.TrimSpace(th.Text) != strings.TrimSpace(sec.Draft.Text) {
			return fmt.Errorf("section %d is %d: %q", i+1, sec.Seq, sec.Draft.Text)
		}
	}
	return nil
}

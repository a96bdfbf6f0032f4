package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// inNamespace runs a task in a child with a mount namespace of its own. That needs
// root or user namespaces.
func inNamespace(t *testing.T, task string, env ...string) {
	t.Helper()
	c := command(t, task, append(env, childStore+"="+t.TempDir())...)
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	c.cmd.SysProcAttr = attr
	const howTo = "run as root, or allow user namespaces"
	if err := c.cmd.Start(); err != nil {
		needtest.Missing(t, fmt.Sprintf("creating a mount namespace failed (%v)", err), howTo)
	}
	c.wait(t)
	if out := c.errors.String(); strings.Contains(out, "cannot mount") {
		needtest.Missing(t, "mounting failed ("+strings.TrimSpace(out)+")", howTo)
	}
}

// mount mounts a tmpfs at dir.
func mount(dir, options string) error {
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, options)
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		fmt.Fprintln(os.Stderr, "cannot mount:", err)
		os.Exit(0)
	}
	return err
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	inNamespace(t, "faults")
}

// faultsTask mounts a small disk and fills it, or, if childName is readonly, calls
// readOnlyMount.
func faultsTask() error {
	dir := os.Getenv(childStore)
	if err := mount(dir, "size=3m"); err != nil {
		return err
	}
	if os.Getenv(childName) == "readonly" {
		return readOnlyMount(dir)
	}
	ctx := context.Background()
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); err != nil {
		return err
	}
	s, err := Open(ctx, Config{Path: filepath.Join(dir, "sessions.db")})
	if err != nil {
		return err
	}
	acked, err := untilFull(ctx, s)
	if err != nil {
		return err
	}
	if _, err := untilFull(ctx, s); err != nil {
		return fmt.Errorf("second time: %w", err)
	}

	if other, err := Open(ctx, Config{Path: filepath.Join(dir, "other.db")}); sequent.CodeOf(err) != sequent.CodeFull {
		return fmt.Errorf("opening a new store on a full disk: %v, %v; want code %s", other, err, sequent.CodeFull)
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	e := sequent.New(sequent.Config{Store: s})
	got, err := e.Ensure(ctx, "s", adding("there is space again"))
	if err != nil {
		return fmt.Errorf("after space was freed: %w", err)
	}
	if got.Len() != acked+1 {
		return fmt.Errorf("after space was freed: %d thoughts, want %d acknowledged and one more", got.Len(), acked)
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}

	if s, err = Open(ctx, Config{Path: filepath.Join(dir, "sessions.db")}); err != nil {
		return err
	}
	defer s.Close()
	_, entries, err := s.Load(ctx, sequent.Key{ID: "s"}, sequent.Position{})
	if err != nil || len(entries) != acked+1 {
		return fmt.Errorf("after reopening: %d thoughts, error %w; want %d", len(entries), err, acked+1)
	}
	for i, th := range sequent.Thoughts(entries)[:acked] {
		if want := fmt.Sprint(i, " ", usualText); th.Text != want || th.Seq != i+1 {
			return fmt.Errorf("thought %d is %d %.40q, want %.40q", i+1, th.Seq, th.Text, want)
		}
	}
	var check string
	if err := s.file.readers.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
		return fmt.Errorf("integrity_check = %q, error %w", check, err)
	}

	// Open an existing store on a disk with no free block.
	if err := s.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		return fmt.Errorf("filling the disk: %v", err)
	}
	s, err = Open(ctx, Config{Path: filepath.Join(dir, "sessions.db")})
	if err == nil {
		_, _, err = s.Load(ctx, sequent.Key{ID: "s"}, sequent.Position{})
		err = errors.Join(err, s.Close())
		if err != nil {
			return fmt.Errorf("reading on a full disk: %w", err)
		}
	} else if sequent.CodeOf(err) != sequent.CodeFull {
		return fmt.Errorf("opening on a full disk: %w, want code %s", err, sequent.CodeFull)
	}
	findings, err := Diagnose(ctx, filepath.Join(dir, "sessions.db"))
	if err != nil {
		return err
	}
	reported := false
	for _, f := range findings {
		reported = reported || f.Check == "free space" && f.Status == diagnosis.Fail
		if f.Status == diagnosis.Fail && !strings.Contains(f.Fix, "free some space") {
			return fmt.Errorf("on a full disk Diagnose advises: %s: %s: %s", f.Check, f.Detail, f.Fix)
		}
	}
	if !reported {
		return fmt.Errorf("Diagnose does not report the full disk: %+v", findings)
	}
	return nil
}

// untilFull appends until the disk is full, and returns the total number of
// acknowledged thoughts.
func untilFull(ctx context.Context, s *Store) (int, error) {
	e := sequent.New(sequent.Config{Store: s})
	n := 0
	if h, _, err := s.Load(ctx, sequent.Key{ID: "s"}, sequent.Position{}); err == nil {
		n = h.Len
	}
	for range 100_000 {
		if _, err := e.Ensure(ctx, "s", adding(fmt.Sprint(n, " ", usualText))); err != nil {
			if sequent.CodeOf(err) != sequent.CodeFull {
				return n, fmt.Errorf("after %d thoughts: %w, want code %s", n, err, sequent.CodeFull)
			}
			_, log, err := s.Load(ctx, sequent.Key{ID: "s"}, sequent.Position{})
			if err != nil || len(log) != n {
				return n, fmt.Errorf("on the full disk: %d thoughts, error %w; want %d", len(log), err, n)
			}
			return n, nil
		}
		n++
	}
	return n, errors.New("the disk is not full after 100,000 thoughts")
}

func TestReadOnlyMount(t *testing.T) {
	t.Parallel()
	inNamespace(t, "faults", childName+"=readonly")
}

// readOnlyMount makes a store, remounts its disk read-only and opens it.
func readOnlyMount(dir string) error {
	ctx := context.Background()
	path := filepath.Join(dir, "sessions.db")
	s, err := Open(ctx, Config{Path: path})
	if err != nil {
		return err
	}
	e := sequent.New(sequent.Config{Store: s})
	for i := range 5 {
		if _, err := e.Ensure(ctx, "a", adding(fmt.Sprint(i))); err != nil {
			return err
		}
	}
	// Copy the store with its log, like a backup program.
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "copy.db"+suffix), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	if err := onlyReads(ctx, path, 5); err != nil {
		return err
	}
	if _, err := Open(ctx, Config{Path: filepath.Join(dir, "copy.db")}); sequent.CodeOf(err) != sequent.CodeReadOnly {
		return fmt.Errorf("opening a file that was not closed: %v, want code %s", err, sequent.CodeReadOnly)
	}
	for _, name := range []string{"new.db", "sub/new.db"} {
		if _, err := Open(ctx, Config{Path: filepath.Join(dir, name)}); sequent.CodeOf(err) != sequent.CodeReadOnly {
			return fmt.Errorf("creating %s: %v, want code %s", name, err, sequent.CodeReadOnly)
		}
	}
	return nil
}

// onlyReads checks a store that is not writable and has n thoughts in session "a".
func onlyReads(ctx context.Context, path string, n int) error {
	s, err := Open(ctx, Config{Path: path})
	if err != nil {
		return fmt.Errorf("opening for reading: %w", err)
	}
	defer s.Close()
	_, log, err := s.Load(ctx, sequent.Key{ID: "a"}, sequent.Position{})
	if err != nil || len(log) != n {
		return fmt.Errorf("Load = %d thoughts, error %w; want %d", len(log), err, n)
	}
	e := sequent.New(sequent.Config{Store: s})
	if _, err := e.Update(ctx, "a", adding("more")); sequent.CodeOf(err) != sequent.CodeReadOnly {
		return fmt.Errorf("Update = %v, want code %s", err, sequent.CodeReadOnly)
	}
	if _, err := s.Search(ctx, sequent.SearchQuery{Text: "1"}); err != nil {
		return fmt.Errorf("searching: %w", err)
	}
	findings, err := Diagnose(ctx, path)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if f.Status == diagnosis.Fail && f.Fix != "" {
			return nil
		}
	}
	return fmt.Errorf("Diagnose does not report that the store is not writable: %+v", findings)
}

// TestReadOnlyDirectory runs its child as nobody if it is run by root, who may
// write everywhere.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		dir, file os.FileMode
	}{
		{"directory and file", 0o555, 0o444},
		{"directory", 0o555, 0o666},
		{"file", 0o777, 0o444},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "sessions.db")
			filled(t, path, 5)
			for _, suffix := range []string{".lock"} {
				os.Remove(path + suffix)
			}
			if err := errors.Join(os.Chmod(path, test.file), os.Chmod(dir, test.dir)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(dir, 0o700) })
			c := command(t, "readonly", childStore+"="+path)
			if os.Getuid() == 0 {
				// The user nobody must be able to read the store and run the binary.
				if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), openPath(c.cmd.Path)); err != nil {
					t.Fatal(err)
				}
				c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
			c.launch(t)
			c.wait(t)
		})
	}
}

// openPath makes the test binary executable for all users.
func openPath(path string) error {
	for dir := filepath.Dir(path); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return os.Chmod(path, 0o755)
}

func readOnlyTask() error { return onlyReads(context.Background(), os.Getenv(childStore), 5) }

// systemTasks are the tasks of a child that only this operating system has.
var systemTasks = map[string]func() error{
	"medium":   mediumTask,
	"faults":   faultsTask,
	"readonly": readOnlyTask,
}

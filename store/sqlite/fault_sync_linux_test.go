package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// failSyncs makes fsync and fdatasync of this process fail with EIO from now on, like
// those of a broken disk.
func failSyncs() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	const number = 0 // offset in struct seccomp_data
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FSYNC, Jt: 1},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

// TestSyncFails lets the disk fail during a commit. The thought that was refused is
// there after the crash, so no error may claim that nothing was stored.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	c := start(t, "syncs", childStore+"="+path)
	if got := c.line(t); strings.HasPrefix(got, "cannot filter") {
		needtest.Missing(t, got, "use a kernel with seccomp filters")
	} else if got != "uncertain" {
		t.Fatalf("the child printed %q", got)
	}
	c.wait(t)
	s := openAt(t, path)
	defer s.Close()
	_, log, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
	if err != nil || len(log) != 2 || log[1].Thought.Text != "in doubt" {
		t.Errorf("after the crash: %d thoughts, error %v; want the recovered log to have the thought whose fdatasync failed", len(log), err)
	}
}

// syncsTask appends a thought, and another one while syncs fail. It exits without
// closing the store.
func syncsTask() error {
	ctx := context.Background()
	s, err := openChild(ctx)
	if err != nil {
		return err
	}
	e := sequent.New(sequent.Config{Store: s})
	if _, err := e.Ensure(ctx, "a", adding("before")); err != nil {
		return err
	}
	if err := failSyncs(); err != nil {
		fmt.Println("cannot filter system calls:", err)
		return nil
	}
	_, err = e.Ensure(ctx, "a", adding("in doubt"))
	failed, ok := errors.AsType[*sequent.Error](err)
	if !ok || !failed.Uncertain || failed.Code != sequent.CodeUnavailable || failed.Fix != sequent.FixUncertain ||
		!strings.Contains(failed.Msg, "may or may not") || strings.Contains(err.Error(), "nothing was") {
		return fmt.Errorf("append while fdatasync fails: %w, want an uncertain error with code %s", err, sequent.CodeUnavailable)
	}
	fmt.Println("uncertain")
	os.Exit(0)
	return nil
}

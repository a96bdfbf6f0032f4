package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// A process that is stopped while it holds a lock is named after a bounded wait,
// whether or not it knows the lock file.
func TestLockHolderIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	filled(t, path, 1)
	for _, task := range []string{"hold", "begin"} {
		s, err := Open(t.Context(), Config{Path: path, BusyTimeout: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		e := sequent.New(sequent.Config{Store: s})
		c := start(t, task, childStore+"="+s.path)
		c.line(t)
		name := fmt.Sprintf("the process %d (%.15s)", c.cmd.Process.Pid, filepath.Base(c.cmd.Path))
		_, err = e.Update(t.Context(), "a", adding("x"))
		if want := name + " locked the store for too long"; !errors.Is(err, sequent.ErrBusy) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Update while a child holds the lock = %v, want %q", task, err, want)
		}
		if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		want := name + ", which is stopped, has locked the store"
		for deadline := time.Now().Add(20 * time.Second); ; { // the signal takes a moment
			_, err = e.Update(t.Context(), "a", adding("x"))
			if errors.Is(err, sequent.ErrBusy) && strings.Contains(err.Error(), want) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: Update while a stopped child holds the lock = %v, want %q", task, err, want)
			}
		}
		if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		c.wait(t)
		if _, err := e.Update(t.Context(), "a", adding("x")); err != nil {
			t.Errorf("%s: Update after the lock: %v", task, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// beginTask writes to the file like a program that does not know the lock file,
// until its input ends.
func beginTask() error {
	db, err := sql.Open("sqlite", os.Getenv(childStore))
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// Package fairlock locks files between processes, in the order of their calls. A process that
// polls for a lock instead may be starved for seconds.
package fairlock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrTimeout is the error of an Acquire that did not get the lock in time.
var ErrTimeout = errors.New("fairlock: timeout waiting for the lock")

// A Lock is a lock on a file. The file stays open until Close: opening it for each commit of a
// store would cost a fifth of the commit's processor time. A Lock must not be used concurrently.
type Lock struct {
	path string
	flag int
	file *os.File // nil before first use, and after a wait that ended early
}

// New returns a lock on the file at a path. The flag is that of [os.OpenFile].
func New(path string, flag int) *Lock { return &Lock{path: path, flag: flag} }

// TryAcquire acquires the lock if it is free, and reports whether it did.
func (l *Lock) TryAcquire() (bool, error) {
	if l.file == nil {
		f, err := os.OpenFile(l.path, l.flag, 0o600)
		if err != nil {
			return false, err
		}
		l.file = f
	}
	return lock(l.file, false)
}

// Acquire acquires the lock. It waits in the kernel's queue, which is fair, until ctx ends, and
// returns ErrTimeout after timeout.
func (l *Lock) Acquire(ctx context.Context, timeout time.Duration) error {
	if locked, err := l.TryAcquire(); locked || err != nil {
		return err
	}
	// The system call cannot be cancelled. After a wait that ended early it goes on, with a file
	// that is closed, which unlocks it, as soon as it has the lock.
	f := l.file
	l.file = nil
	locked, returned := make(chan error), make(chan struct{})
	defer close(returned)
	go func() {
		_, err := lock(f, true)
		select {
		case locked <- err:
		case <-returned:
			_ = f.Close()
		}
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case err := <-locked:
		l.file = f
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ErrTimeout
	}
}

// Release releases the lock, which must be held.
func (l *Lock) Release() error { return unlock(l.file) }

// Close closes the file, which releases the lock if it is held.
func (l *Lock) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Package fairlock waits for a file lock in the kernel's queue, which is fair. A
// process that polls for a lock instead may be starved for seconds.
package fairlock

import (
	"context"
	"errors"
	"time"

	"github.com/gofrs/flock"
)

// ErrTimeout is the error of a Wait whose timeout fired before it had the lock.
var ErrTimeout = errors.New("fairlock: timeout waiting for the lock")

// Wait acquires the lock. It returns ctx.Err() if ctx ends first, and ErrTimeout
// if timeout fires first. The system call cannot be cancelled: after such an
// error it continues in a goroutine, which releases the lock as soon as it has
// it. The caller must not use f again after an error.
func Wait(ctx context.Context, f *flock.Flock, timeout <-chan time.Time) error {
	locked, returned := make(chan error), make(chan struct{})
	defer close(returned)
	go func() {
		err := f.Lock()
		select {
		case locked <- err:
		case <-returned:
			if err == nil {
				_ = f.Unlock() // it closes the file, which unlocks even after an error
			}
		}
	}()
	select {
	case err := <-locked:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout:
		return ErrTimeout
	}
}

// Package fairlock waits for a file lock in the kernel's queue, which is fair:
// whoever tries again and again may lose for seconds.
package fairlock

import (
	"context"
	"errors"
	"time"

	"github.com/gofrs/flock"
)

// ErrLate says that the lock was held until the caller's patience was at an end.
var ErrLate = errors.New("fairlock: the lock was held for too long")

// Wait takes the lock, unless ctx is done or late fires before: the error is
// then ctx's, or ErrLate. Waiting in the kernel's queue cannot be broken off, so
// a goroutine does it; if nobody waits for it any more, it gives the lock back
// at once. So f is of no more use after an error.
func Wait(ctx context.Context, f *flock.Flock, late <-chan time.Time) error {
	locked, gone := make(chan error), make(chan struct{})
	defer close(gone)
	go func() {
		err := f.Lock()
		select {
		case locked <- err:
		case <-gone:
			if err == nil {
				_ = f.Unlock() // closes the file, which unlocks in any case
			}
		}
	}()
	select {
	case err := <-locked:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return ErrLate
	}
}

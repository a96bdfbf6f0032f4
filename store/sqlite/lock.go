package sqlite

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

// A fileLock lets the processes that write to one file take turns. SQLite's
// own waiting is a race that some lose for seconds; the kernel's queue for a
// lock is fair.
type fileLock struct {
	path   string
	flag   int          // for opening it
	latch  latch        // of a lock that was free
	waited *flock.Flock // the lock, if it had to be waited for
}

func newFileLock(path string) *fileLock { return &fileLock{path: path, flag: os.O_CREATE | os.O_RDWR} }

// acquire waits for the lock until ctx is done or patience is at an end. It is
// not for concurrent use.
func (l *fileLock) acquire(ctx context.Context, patience time.Duration) error {
	free, err := l.latch.try(l.path, l.flag)
	if free || err != nil {
		return err
	}
	// A file of its own: whoever gives up leaves it behind in the queue.
	f := flock.New(l.path, flock.SetFlag(l.flag), flock.SetPermissions(0o600))
	late := time.NewTimer(patience)
	defer late.Stop()
	switch err := fairlock.Wait(ctx, f, late.C); {
	case errors.Is(err, fairlock.ErrTimeout):
		return busy(errors.New("the file lock was held for " + patience.String()))
	case err != nil:
		return err
	}
	l.waited = f
	return nil
}

func (l *fileLock) release() error {
	if f := l.waited; f != nil {
		l.waited = nil
		return f.Unlock()
	}
	return l.latch.release()
}

// close is for a lock that is not held.
func (l *fileLock) close() error { return l.latch.close() }

func busy(cause error) *sequent.Error {
	return &sequent.Error{
		Code: sequent.CodeBusy,
		Msg:  "another process kept the store to itself for too long; nothing was stored",
		Fix:  "try again; if it goes on, look for a program that hangs while it has the store open",
		Err:  cause,
	}
}

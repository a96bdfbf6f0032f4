package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/internal/fairlock"
)

// A fileLock gives the processes that write to one file access in the order of their calls.
// SQLite polls for its own lock, which can starve a process for seconds. A fileLock must not
// be used concurrently.
type fileLock struct {
	path   string
	flag   int          // of os.OpenFile
	free   lockFile     // for a lock that is free
	waited *flock.Flock // for a lock that is not; nil unless held
}

func newFileLock(path string) *fileLock { return &fileLock{path: path, flag: os.O_CREATE | os.O_RDWR} }

// acquire acquires the lock. It waits until ctx ends, or returns a busy error
// after timeout.
func (l *fileLock) acquire(ctx context.Context, timeout time.Duration) error {
	locked, err := l.free.try(l.path, l.flag)
	if locked || err != nil {
		return err
	}
	// fairlock needs a separate descriptor, because it keeps it after a timeout.
	f := flock.New(l.path, flock.SetFlag(l.flag), flock.SetPermissions(0o600))
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	err = fairlock.Wait(ctx, f, timer.C)
	if errors.Is(err, fairlock.ErrTimeout) {
		err = busy(fmt.Errorf("timeout after %v waiting for the file lock", timeout))
	}
	if err == nil {
		l.waited = f
	}
	return err
}

func (l *fileLock) release() error {
	if f := l.waited; f != nil {
		l.waited = nil
		return f.Unlock()
	}
	return l.free.release()
}

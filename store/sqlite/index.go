package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/internal/indexfile"
	"github.com/sequent-dev/sequent/store/internal/indexer"
	"github.com/sequent-dev/sequent/store/ranking"
)

// An index finds thoughts by their words. Its file is separate from the store's,
// lags behind it by the latest commits, and is rebuilt if it is missing, damaged or
// from another store: it contains nothing that is not in the store. Without it
// searches work, but slower.
//
// One goroutine, owned by the index, updates the file. Among several processes
// only the holder of the lock file does.
type index struct {
	store    *Store
	identity string // of the store
	path     string
	lock     *flock.Flock

	blockSize int // of searches; smaller in tests

	updating sync.Mutex // held by update

	schedule *indexer.Schedule
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	file   *indexFile // nil until it is needed, and after detachFile
	closed bool
}

// Waits of the indexer.
const (
	minRetry = time.Second // after a failure, or if another process holds the lock
	maxRetry = time.Minute // after repeated failures
)

// start starts the indexer, unless the store is read-only. The store must have the
// index by then: the indexer also calls [Store.Erase].
func (x *index) start(ctx context.Context) {
	if x.store.readOnly {
		return
	}
	ctx, x.stop = context.WithCancel(context.WithoutCancel(ctx))
	x.done.Go(func() { x.run(ctx) })
	x.schedule.Committed(0) // there may be thoughts from before
}

// newIndex returns the index of s, which nothing updates before start. Problems of
// the file are logged and repaired later.
func newIndex(ctx context.Context, s *Store) (*index, error) {
	x := &index{
		store:     s,
		path:      indexPath(s.path),
		blockSize: ranking.BlockSize,
		schedule:  indexer.NewSchedule(),
		stop:      func() {},
	}
	x.lock = flock.New(x.path+".lock", flock.SetPermissions(0o600))
	err := s.readers.QueryRowContext(ctx, "SELECT id FROM identity").Scan(&x.identity)
	return x, err
}

// close stops the indexer, waits for it and for searches in progress, and closes
// the file.
func (x *index) close() error {
	x.stop()
	f := x.detachFile(true)
	x.done.Wait()
	var err error
	if f != nil {
		err = f.Close()
	}
	return errors.Join(err, x.lock.Close())
}

// run updates the index according to the schedule, until ctx ends.
func (x *index) run(ctx context.Context) {
	logged := "" // the last error, so that it is logged once
	wait := time.Duration(0)
	retry := (<-chan time.Time)(nil)
	for x.schedule.Wait(ctx, retry) == nil {
		retry = nil
		mark := x.schedule.Mark()
		err := x.update(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errIndexLocked):
			retry = time.After(minRetry)
			continue
		case err != nil:
			if err.Error() != logged {
				logged = err.Error()
				x.store.log.WarnContext(ctx, "updating the search index; searches read the store instead", "index", x.path, "error", err)
			}
			wait = min(max(2*wait, minRetry), maxRetry)
		default:
			logged, wait = "", 0
			x.schedule.Indexed(mark)
			if left := x.store.cleanUp(ctx); left {
				retry = time.After(maxRetry)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// errIndexLocked means that another process holds the lock and writes the index.
var errIndexLocked = errors.New("the index is locked by another process")

// update brings the index up to date, or returns errIndexLocked.
func (x *index) update(ctx context.Context) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	if x.upToDate(context.WithoutCancel(ctx)) {
		return nil
	}
	switch held, err := x.lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	case !held:
		return errIndexLocked
	}
	defer x.lock.Unlock() //nolint:errcheck // the kernel releases the lock when the process exits
	err := x.write(ctx)
	if isDamage(err) && ctx.Err() == nil {
		x.store.log.WarnContext(ctx, "the search index is damaged; rebuilding it", "index", x.path, "error", err)
		if err = x.remove(); err == nil {
			err = x.write(ctx)
		}
	}
	return err
}

// remove closes and removes the file. The caller holds the lock.
func (x *index) remove() error {
	if f := x.detachFile(false); f != nil {
		f.Close() //nolint:errcheck // the file is removed
	}
	return indexfile.Remove(x.path)
}

// detachFile sets x.file to nil and returns its previous value, for the caller to
// close. If final, no file is opened again.
func (x *index) detachFile(final bool) *indexFile {
	x.mu.Lock()
	defer x.mu.Unlock()
	f := x.file
	x.file, x.closed = nil, x.closed || final
	return f
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/internal/indexfile"
	"github.com/sequent-dev/sequent/store/internal/ranked"
)

// An index finds thoughts by their words. It is a file of its own beside the
// store's file, behind it by at most what was written a moment ago, and made
// anew whenever it is missing, damaged or of another store: it holds nothing
// that is not in the store. A store works without it, only slower.
//
// One goroutine, owned by the index, brings the file up to date. Among several
// processes the one that holds the lock file does it.
type index struct {
	store    *Store
	identity string // of the store
	path     string
	lock     *flock.Flock

	blockSize int // of searches; tests make it small

	pokes   chan struct{} // something was written; holds at most one
	hurries chan struct{} // somebody searches and had much to read; holds at most one
	written atomic.Int64  // thoughts, or more, written by this process
	stop    context.CancelFunc
	ended   sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	file   *indexFile // nil until it is needed, and after it was given up
	closed bool
}

// Pauses of the indexer.
const (
	quiet     = 250 * time.Millisecond // without a write, before the indexer begins
	lookAgain = time.Second            // while another process holds the lock; after a failure
	longest   = time.Minute            // after many failures
)

// What the indexer does at once.
const (
	batchSize  = 500     // thoughts a transaction
	batchBytes = 4 << 20 // text a transaction, which may end a batch sooner
	maxBehind  = 10_000  // thoughts that wait for a quiet moment
	longRead   = 1000    // thoughts that a search reads without an index before it asks for one
)

// openIndex starts the index of s. What is wrong with the file shows later, in
// the log, and is repaired if it can be. Of a store that is only read, the
// index is used as far as it goes.
func openIndex(ctx context.Context, s *Store) (*index, error) {
	x, err := newIndex(ctx, s)
	if err != nil {
		return nil, err
	}
	ctx, x.stop = context.WithCancel(context.WithoutCancel(ctx))
	if !s.readOnly {
		x.ended.Go(func() { x.run(ctx) })
		x.poke()
	}
	return x, nil
}

// newIndex returns an index that nobody brings up to date yet.
func newIndex(ctx context.Context, s *Store) (*index, error) {
	x := &index{
		store:   s,
		path:    indexPath(s.path),
		pokes:   make(chan struct{}, 1),
		hurries: make(chan struct{}, 1),
		stop:    func() {},

		blockSize: ranked.BlockSize,
	}
	x.lock = flock.New(x.path+".lock", flock.SetPermissions(0o600))
	err := s.readers.QueryRowContext(ctx, "SELECT id FROM identity").Scan(&x.identity)
	return x, err
}

// poke tells the index that something was written. It does not wait.
func (x *index) poke() {
	select {
	case x.pokes <- struct{}{}:
	default:
	}
}

// wrote tells the index that thoughts were written, or something else with 1.
func (x *index) wrote(n int) {
	x.written.Add(int64(n))
	x.poke()
}

// hurry tells the indexer that the index is missed. It does not wait.
func (x *index) hurry() {
	select {
	case x.hurries <- struct{}{}:
	default:
	}
}

// close ends the indexer, waits for it and for searches under way, and closes
// the file.
func (x *index) close() error {
	x.stop()
	f := x.takeFile(true)
	x.ended.Wait()
	var err error
	if f != nil {
		err = f.Close()
	}
	return errors.Join(err, x.lock.Close())
}

// run brings the index up to date after every poke, until ctx is done.
func (x *index) run(ctx context.Context) {
	told := "" // what the log already says
	pause := time.Duration(0)
	again := (<-chan time.Time)(nil)
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.pokes:
			x.settle(ctx)
		case <-x.hurries:
		case <-again:
		}
		again = nil
		err := x.catchUp(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errIndexHeld):
			again = time.After(lookAgain)
			continue
		case err != nil:
			if err.Error() != told {
				told = err.Error()
				x.store.log.WarnContext(ctx, "the search index cannot be brought up to date; searches read the store instead", "index", x.path, "error", err)
			}
			pause = min(max(2*pause, lookAgain), longest)
		default:
			told, pause = "", 0
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// settle waits until writing pauses, but not for ever: an index is for those who
// search, and costs whoever writes.
func (x *index) settle(ctx context.Context) {
	begun := x.written.Load()
	for before, now := int64(-1), begun; now != before && now-begun < maxBehind; now = x.written.Load() {
		before = now
		select {
		case <-ctx.Done():
			return
		case <-x.hurries:
			return
		case <-time.After(quiet):
		}
	}
	select {
	case <-x.pokes: // of what is indexed now
	default:
	}
}

// errIndexHeld says that another process has the lock and writes the index.
var errIndexHeld = errors.New("the index is held by another process")

// catchUp brings the index up to date, unless another process is doing it.
func (x *index) catchUp(ctx context.Context) error {
	if x.upToDate(context.WithoutCancel(ctx)) {
		return nil
	}
	switch held, err := x.lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	case !held:
		return errIndexHeld
	}
	defer x.lock.Unlock() //nolint:errcheck // the lock ends with the process at the latest
	err := x.write(ctx)
	if isDamage(err) && ctx.Err() == nil {
		x.store.log.WarnContext(ctx, "the search index is damaged and is made anew", "index", x.path, "error", err)
		if err = x.discard(); err == nil {
			err = x.write(ctx)
		}
	}
	return err
}

// discard removes the file. The caller holds the lock.
func (x *index) discard() error {
	if f := x.takeFile(false); f != nil {
		f.Close() //nolint:errcheck // it is thrown away
	}
	return indexfile.Remove(x.path)
}

// takeFile returns the open file, if there is one, for the caller to close,
// and leaves none; after the last time, none is opened any more.
func (x *index) takeFile(last bool) *indexFile {
	x.mu.Lock()
	defer x.mu.Unlock()
	f := x.file
	x.file, x.closed = nil, x.closed || last
	return f
}

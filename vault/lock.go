package vault

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

const lockDir = stateDir + "/locks"

// stripes is the number of locks. Notes share them by their names, so that a large
// vault has few lock files.
const stripes = 64

// locks exclude the writers of one process from each other. The holder then waits for
// the lock between processes.
type locks [stripes]chan struct{}

func (l *locks) init() {
	for i := range l {
		l[i] = make(chan struct{}, 1)
	}
}

// stripeOf returns the number of a note's lock.
func stripeOf(p string) uint32 {
	// On case-insensitive file systems, names that differ only in case are one file.
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(p)))
	return h.Sum32() % stripes
}

func (v *Vault) lock(ctx context.Context, p string) (unlock func(), err error) {
	return v.lockStripe(ctx, stripeOf(p))
}

// lockBoth locks two notes. All callers lock in the order of the stripes, so that two
// moves in opposite directions do not wait for each other.
func (v *Vault) lockBoth(ctx context.Context, a, b string) (unlock func(), err error) {
	first, second := stripeOf(a), stripeOf(b)
	if first == second {
		return v.lockStripe(ctx, first)
	}
	if first > second {
		first, second = second, first
	}
	unlockFirst, err := v.lockStripe(ctx, first)
	if err != nil {
		return nil, err
	}
	unlockSecond, err := v.lockStripe(ctx, second)
	if err != nil {
		unlockFirst()
		return nil, err
	}
	return func() { unlockSecond(); unlockFirst() }, nil
}

func (v *Vault) lockStripe(ctx context.Context, stripe uint32) (unlock func(), err error) {
	timeout := time.NewTimer(v.lockTimeout)
	defer timeout.Stop()
	select {
	case v.locks[stripe] <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timeout.C:
		return nil, busy(nil)
	}
	release := func() { <-v.locks[stripe] }
	if err := v.makeFolder(lockDir); err != nil {
		release()
		return nil, err
	}
	f, err := acquire(ctx, filepath.Join(v.dir, filepath.FromSlash(lockDir), fmt.Sprintf("%02x", stripe)), timeout.C)
	if err != nil {
		release()
		return nil, err
	}
	return func() {
		_ = f.Unlock() // it closes the file, which releases the lock in any case
		release()
	}, nil
}

// acquire acquires the lock between processes.
func acquire(ctx context.Context, name string, timeout <-chan time.Time) (*flock.Flock, error) {
	f := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR|openFlags), flock.SetPermissions(0o600))
	if ok, err := f.TryLock(); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			err = &sequent.Error{
				Code: CodeNotSupported, Err: err,
				Msg: "the file system of the vault has no locks, and without them two programs would overwrite each other's notes",
				Fix: "put the vault on a local disk",
			}
		}
		return nil, err
	} else if ok {
		return f, nil
	}
	switch err := fairlock.Wait(ctx, f, timeout); {
	case errors.Is(err, fairlock.ErrTimeout):
		return nil, busy(nil)
	case err != nil:
		return nil, err
	}
	return f, nil
}

func busy(cause error) error {
	return &sequent.Error{
		Code: CodeBusy,
		Msg:  "another program has locked the note for too long; nothing was written",
		Fix:  "try again; if this continues, look for a program that has the vault open and hangs",
		Err:  cause,
	}
}

// Lock makes the caller the only holder of a name among all processes, until unlock is
// called. It is for work on several notes, during which Lock of the same name waits up to
// [Config.LockTimeout] and then fails with CodeBusy. It does not lock notes.
func (v *Vault) Lock(ctx context.Context, name string) (unlock func(), err error) {
	if why := badName(name); why != "" {
		return nil, invalidURI(name, why)
	}
	timeout := time.NewTimer(v.lockTimeout)
	defer timeout.Stop()
	if err := v.makeFolder(lockDir); err != nil {
		return nil, wrap(err, scheme)
	}
	f, err := acquire(ctx, filepath.Join(v.dir, filepath.FromSlash(lockDir), "named-"+name), timeout.C)
	if err != nil {
		return nil, wrap(err, scheme)
	}
	return func() { _ = f.Unlock() }, nil // closing the file releases the lock in any case
}

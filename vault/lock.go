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

// stripes is how many locks there are. Notes share them by their names, so
// that the locks of a large vault are few files.
const stripes = 64

// locks let the writers of a process stand in line before they ask for the lock
// between processes.
type locks [stripes]chan struct{}

func (l *locks) init() {
	for i := range l {
		l[i] = make(chan struct{}, 1)
	}
}

func (v *Vault) lock(ctx context.Context, p string) (unlock func(), err error) {
	// Names that differ in case alone are one file on some systems.
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(p)))
	stripe := h.Sum32() % stripes

	late := time.NewTimer(v.lockTimeout)
	defer late.Stop()
	select {
	case v.locks[stripe] <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, busy(nil)
	}
	release := func() { <-v.locks[stripe] }
	if err := v.makeFolder(lockDir); err != nil {
		release()
		return nil, err
	}
	f, err := acquire(ctx, filepath.Join(v.dir, filepath.FromSlash(lockDir), fmt.Sprintf("%02x", stripe)), late.C)
	if err != nil {
		release()
		return nil, err
	}
	return func() {
		_ = f.Unlock() // closes the file, which unlocks in any case
		release()
	}, nil
}

// acquire takes the lock between processes.
func acquire(ctx context.Context, name string, late <-chan time.Time) (*flock.Flock, error) {
	f := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR|openFlags), flock.SetPermissions(0o600))
	if ok, err := f.TryLock(); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			err = &sequent.Error{
				Code: CodeNotSupported, Err: err,
				Msg: "the file system of the vault has no locks, without which two programs would destroy each other's notes",
				Fix: "put the vault on a local disk",
			}
		}
		return nil, err
	} else if ok {
		return f, nil
	}
	switch err := fairlock.Wait(ctx, f, late); {
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
		Msg:  "another program kept the note to itself for too long; nothing was written",
		Fix:  "try again; if it goes on, look for a program that hangs while it has the vault open",
		Err:  cause,
	}
}

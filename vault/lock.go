package vault

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

const lockDir = stateDir + "/locks"

// stripes is the number of lock files. Notes share them by their names, so that a large
// vault has few.
const stripes = 64

// stripeOf returns the name of a note's lock.
func stripeOf(p string) string {
	// On case-insensitive file systems, names that differ only in case are one file.
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(p)))
	return fmt.Sprintf("%02x", h.Sum32()%stripes)
}

// Lock makes the caller the only holder of a name among all processes, until unlock is
// called. It is for work on several notes, during which Lock of the same name waits up to
// [Config.LockTimeout] and then fails with CodeBusy. It does not lock notes.
func (v *Vault) Lock(ctx context.Context, name string) (unlock func(), err error) {
	if why := badName(name); why != "" {
		return nil, invalidURI(name, why)
	}
	unlock, err = v.lock(ctx, "named-"+name)
	return unlock, wrap(err, scheme)
}

// lock acquires a lock file, for the writers of this process and of others.
func (v *Vault) lock(ctx context.Context, name string) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := v.makeFolder(lockDir); err != nil {
		return nil, err
	}
	l := fairlock.New(filepath.Join(v.dir, filepath.FromSlash(lockDir), name), os.O_CREATE|os.O_RDWR|openFlags)
	if err = l.Acquire(ctx, v.lockTimeout); err != nil {
		_ = l.Close()
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, &sequent.Error{
			Code: CodeNotSupported, Err: err,
			Msg: "the file system of the vault has no locks, and without them two programs would overwrite each other's notes",
			Fix: "put the vault on a local disk",
		}
	case errors.Is(err, fairlock.ErrTimeout):
		return nil, sequent.Errorf(CodeBusy, "", "try again; if this continues, look for a program that has the vault open and hangs",
			"another program has locked the note for too long; nothing was written")
	case err != nil:
		return nil, err
	}
	return func() { _ = l.Close() }, nil
}

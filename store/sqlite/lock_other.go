//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package sqlite

import "github.com/gofrs/flock"

// A latch is the file of a lock, which is only open while it is held.
type latch struct {
	file *flock.Flock
}

// try takes the lock if it is free.
func (l *latch) try(path string, flag int) (bool, error) {
	l.file = flock.New(path, flock.SetFlag(flag), flock.SetPermissions(0o600))
	return l.file.TryLock()
}

// release gives the lock back.
func (l *latch) release() error { return l.file.Unlock() }

func (l *latch) close() error { return nil }

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package sqlite

import "github.com/gofrs/flock"

// A lockFile is a lock that is acquired without waiting. Its file is only open
// while the lock is held.
type lockFile struct {
	file *flock.Flock
}

// try acquires the lock if it is free, and reports whether it did.
func (l *lockFile) try(path string, flag int) (bool, error) {
	l.file = flock.New(path, flock.SetFlag(flag), flock.SetPermissions(0o600))
	return l.file.TryLock()
}

func (l *lockFile) release() error { return l.file.Unlock() }

func (l *lockFile) close() error { return nil }

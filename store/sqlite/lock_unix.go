//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A lockFile is a lock that is acquired without waiting. Its file stays open: opening it for
// each commit would cost a fifth of the commit's processor time.
type lockFile struct {
	file *os.File // nil before first use
}

// try acquires the lock if it is free, and reports whether it did.
func (l *lockFile) try(path string, flag int) (bool, error) {
	if l.file == nil {
		f, err := os.OpenFile(path, flag, 0o600)
		if err != nil {
			return false, err
		}
		l.file = f
	}
	for {
		switch err := unix.Flock(int(l.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return err == nil, err
		}
	}
}

func (l *lockFile) release() error { return unix.Flock(int(l.file.Fd()), unix.LOCK_UN) }

func (l *lockFile) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A latch is the file of a lock, kept open between commits.
type latch struct {
	file *os.File // nil until it is needed
}

// try takes the lock if it is free.
func (l *latch) try(path string, flag int) (bool, error) {
	for {
		if l.file == nil {
			f, err := os.OpenFile(path, flag, 0o600)
			if err != nil {
				return false, err
			}
			l.file = f
		}
		fd := int(l.file.Fd())
		switch err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return false, errors.Join(err, l.close())
		}
		var info unix.Stat_t
		if err := unix.Fstat(fd, &info); err == nil && info.Nlink > 0 {
			return true, nil
		}
		// It was deleted; others take turns at another file.
		if err := l.close(); err != nil {
			return false, err
		}
	}
}

// release gives the lock back.
func (l *latch) release() error {
	if err := unix.Flock(int(l.file.Fd()), unix.LOCK_UN); err != nil {
		return errors.Join(err, l.close()) // which unlocks in any case
	}
	return nil
}

func (l *latch) close() error {
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A lockFile is a lock that is acquired without waiting. Its file stays open
// between commits.
type lockFile struct {
	file *os.File // nil before first use
}

// try acquires the lock if it is free, and reports whether it did.
func (l *lockFile) try(path string, flag int) (bool, error) {
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
		// The file was deleted: other processes lock a new one.
		if err := l.close(); err != nil {
			return false, err
		}
	}
}

func (l *lockFile) release() error {
	if err := unix.Flock(int(l.file.Fd()), unix.LOCK_UN); err != nil {
		return errors.Join(err, l.close()) // closing unlocks too
	}
	return nil
}

func (l *lockFile) close() error {
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}

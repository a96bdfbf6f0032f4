//go:build !linux

package sqlite

// A lockKind is a kind of lock on a file.
type lockKind string

// Kinds of locks.
const (
	wholeFile  lockKind = "FLOCK" // of the lock file
	partOfFile lockKind = "POSIX" // of SQLite
)

// lockHolders returns nil: the system does not tell which processes hold a lock.
func lockHolders(lockKind, *byteRange, ...string) []*holder { return nil }

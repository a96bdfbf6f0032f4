//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// writable reports whether this process may write to a file. It does not open the file, for the
// reason given at createFile.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// freeSpace returns the free space for this process in a directory, in bytes.
func freeSpace(dir string) (uint64, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return uint64(fs.Bavail) * uint64(fs.Bsize), err
}

// remote reports whether a directory is on a network file system.
func remote(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && isRemote(&fs)
}

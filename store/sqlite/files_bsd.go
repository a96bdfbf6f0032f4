//go:build unix && !linux

package sqlite

import (
	"slices"

	"golang.org/x/sys/unix"
)

// remoteFS reports whether a directory is on a network file system, and its name.
func remoteFS(dir string) (name string, remote bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", false
	}
	name = unix.ByteSliceToString(fs.Fstypename[:])
	return name, slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav", "ftp", "cifs"}, name)
}

//go:build unix && !linux

package sqlite

import (
	"slices"

	"golang.org/x/sys/unix"
)

// remoteFS returns the name of the file system that a directory is on, and
// whether it is one that several machines may share.
func remoteFS(dir string) (name string, remote bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", false
	}
	name = unix.ByteSliceToString(fs.Fstypename[:])
	return name, slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav", "ftp", "cifs"}, name)
}

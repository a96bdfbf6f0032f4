package sqlite

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// writable reports whether a file is not marked read-only. It does not check access control lists.
func writable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o200 != 0
}

// freeSpace returns the free space for this process in a directory, in bytes.
func freeSpace(dir string) (free uint64, err error) {
	p, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(p, &free, nil, nil)
	}
	return free, err
}

// remote reports whether a directory is on a network drive or share.
func remote(dir string) bool {
	p, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	return err == nil && windows.GetDriveType(p) == windows.DRIVE_REMOTE
}

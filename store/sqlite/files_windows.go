package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// isFull reports whether err means that the disk or quota is full.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// isReadOnly reports whether err means that write permission is missing.
func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, windows.ERROR_WRITE_PROTECT)
}

// readable reports whether this process may read a file.
func readable(path string) bool {
	f, err := os.Open(path)
	return err == nil && f.Close() == nil
}

// writable reports whether a file or directory is not marked read-only. It does
// not check access control lists.
func writable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || info.Mode().Perm()&0o200 != 0)
}

// writableDir reports whether this process can create files in a directory.
func writableDir(dir string) bool {
	f, err := os.CreateTemp(dir, ".sequent-*")
	if err != nil {
		return false
	}
	name := f.Name()
	return errors.Join(f.Close(), os.Remove(name)) == nil
}

// freeSpace returns the free space for this process in a directory, in bytes.
func freeSpace(dir string) (uint64, error) {
	p, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	return free, windows.GetDiskFreeSpaceEx(p, &free, nil, nil)
}

// remoteFS reports whether a directory is on a network drive, and what kind it is.
func remoteFS(dir string) (name string, remote bool) {
	volume := filepath.VolumeName(dir)
	if len(volume) > 2 && volume[0] == '\\' {
		return "a network share", true
	}
	p, err := windows.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return "", false
	}
	if windows.GetDriveType(p) == windows.DRIVE_REMOTE {
		return "a network drive", true
	}
	return "", false
}

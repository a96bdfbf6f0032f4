package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// isFull reports whether an error of the system says that there is no space.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// isReadOnly reports whether an error of the system says that something may
// not be written.
func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, windows.ERROR_WRITE_PROTECT)
}

// readable reports whether a file can be read.
func readable(path string) bool {
	f, err := os.Open(path)
	return err == nil && f.Close() == nil
}

// writable reports whether a file or directory is not marked read-only. What
// access lists say shows only when it is tried.
func writable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || info.Mode().Perm()&0o200 != 0)
}

// writableDir reports whether files can be made in a directory.
func writableDir(dir string) bool {
	f, err := os.CreateTemp(dir, ".sequent-*")
	if err != nil {
		return false
	}
	name := f.Name()
	return errors.Join(f.Close(), os.Remove(name)) == nil
}

// freeSpace returns how many bytes this process can still store in a directory.
func freeSpace(dir string) (uint64, error) {
	p, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	return free, windows.GetDiskFreeSpaceEx(p, &free, nil, nil)
}

// remoteFS returns the name of the file system that a directory is on, and
// whether it is one that several machines may share.
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

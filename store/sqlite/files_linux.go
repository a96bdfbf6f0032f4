package sqlite

import "golang.org/x/sys/unix"

// remoteFS reports whether a directory is on a network file system, and its name.
func remoteFS(dir string) (name string, remote bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", false
	}
	switch uint32(fs.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS", true
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB", true
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC:
		return "AFS or Coda", true
	case unix.NCP_SUPER_MAGIC:
		return "NCP", true
	case unix.V9FS_MAGIC:
		return "9P", true
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph", true
	}
	return "", false
}

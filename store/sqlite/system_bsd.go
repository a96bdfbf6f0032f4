//go:build unix && !linux

package sqlite

import "golang.org/x/sys/unix"

func isRemote(fs *unix.Statfs_t) bool { return fs.Flags&unix.MNT_LOCAL == 0 }

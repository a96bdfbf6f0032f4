package index

import (
	"encoding/binary"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A watch tells which files of a vault have changed since it was last asked. The kernel
// queues an event before the call that changes a file returns, so an answer lacks nothing
// that was complete when it was asked for.
type watch struct {
	fd      int              // of inotify, which is read only when a search asks
	folders map[int32]string // slash-separated paths, by inotify's numbers
}

// newWatch watches all folders of a vault. It returns nil if one cannot be watched: a limit
// of the system is reached, or others can change its file system without this kernel.
func newWatch(dir string) *watch {
	const events = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MODIFY |
		unix.IN_CLOSE_WRITE | // for changes by mmap
		unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	w := &watch{fd: fd, folders: make(map[int32]string)}
	err = filepath.WalkDir(dir+"/", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !e.IsDir():
			return nil
		case p != dir+"/" && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case !local(p):
			return fs.ErrInvalid
		}
		number, err := unix.InotifyAddWatch(fd, p, events)
		if err == nil {
			w.folders[int32(number)], err = filepath.Rel(dir, p)
		}
		return err
	})
	if err != nil {
		w.close()
		return nil
	}
	return w
}

// local reports whether inotify sees all changes of a folder's files: its file system is
// neither on a network nor in another process.
func local(folder string) bool {
	const zfs, bcachefs = 0x2fc12fc1, 0xca451a4e
	var s unix.Statfs_t
	return unix.Statfs(folder, &s) == nil && slices.Contains([]uint32{
		unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, zfs, bcachefs,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	}, uint32(s.Type))
}

// changed adds the paths of the files that may have changed. It returns false if others may
// have changed too: a folder was created, moved or removed, or events were lost.
func (w *watch) changed(paths map[string]bool) bool {
	if w == nil {
		return false
	}
	for buffer := make([]byte, 64<<10); ; {
		n, err := unix.Read(w.fd, buffer)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return true
		case err != nil || n == 0:
			return false
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			number, mask := int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			name := strings.TrimRight(string(rest[unix.SizeofInotifyEvent:end]), "\x00")
			rest = rest[end:]
			switch {
			case strings.HasPrefix(name, "."): // of an editor, or our own
			case name == "" || mask&unix.IN_ISDIR != 0: // name is empty for a watched folder, and if events were lost
				return false
			default:
				paths[path.Join(w.folders[number], name)] = true
			}
		}
	}
}

func (w *watch) close() {
	if w != nil {
		_ = unix.Close(w.fd)
	}
}

package sqlite

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A lockKind is a kind of lock on a file, as /proc/locks names it.
type lockKind string

// Kinds of locks.
const (
	wholeFile  lockKind = "FLOCK" // of the lock file
	partOfFile lockKind = "POSIX" // of SQLite
)

// lockHolders returns the other processes in this process's namespace that have
// locked one of the files: for writing, or, if readers is not nil, any of its bytes. The
// format of /proc/locks is in proc(5).
func lockHolders(kind lockKind, readers *byteRange, paths ...string) (all []*holder) {
	var wanted []string // device and inode
	for _, path := range paths {
		var info unix.Stat_t
		if unix.Stat(path, &info) == nil {
			wanted = append(wanted, fmt.Sprintf("%02x:%02x:%d", unix.Major(info.Dev), unix.Minor(info.Dev), info.Ino))
		}
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		// A process that waits for a lock has -> after the number.
		if len(fields) < 8 || fields[1] != string(kind) ||
			readers == nil && fields[3] != "WRITE" || readers != nil && !readers.overlaps(fields[6], fields[7]) {
			continue
		}
		pid, err := strconv.Atoi(fields[4])
		if err != nil || pid <= 0 || pid == os.Getpid() {
			continue
		}
		for i, file := range wanted {
			if fields[5] == file || sameInode(fields[5], file) && hasOpen(pid, paths[i]) {
				all = append(all, describeHolder(pid))
				break
			}
		}
	}
	return all
}

// overlaps reports whether a lock from first to last, as in /proc/locks, has a byte of
// the range.
func (r *byteRange) overlaps(first, last string) bool {
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil || from > r.last {
		return false
	}
	to, err := strconv.ParseInt(last, 10, 64)
	return last == "EOF" || err == nil && to >= r.first
}

// sameInode reports whether two files, given by device and inode, differ at most in
// the device. On some file systems the kernel's number is not that of stat.
func sameInode(a, b string) bool {
	return a[strings.LastIndex(a, ":"):] == b[strings.LastIndex(b, ":"):]
}

// hasOpen reports whether a process has a file open, as far as this process may know.
func hasOpen(pid int, path string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if target, err := os.Readlink(dir + "/" + e.Name()); err == nil && target == path {
			return true
		}
	}
	return false
}

func describeHolder(pid int) *holder {
	h := &holder{pid: pid, program: "unknown program"}
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
		h.program = strings.TrimSpace(string(name))
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		// The state follows the name, which is in parentheses and may contain others.
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		h.stopped = strings.HasPrefix(rest, " T") || strings.HasPrefix(rest, " t")
	}
	return h
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

// Diagnose checks the store at path, its directory and its disk for problems. It
// changes nothing, except that it creates and removes a directory beside the store, and may run
// while the store is in use. It returns an error only if ctx ends.
func Diagnose(ctx context.Context, path string) ([]diagnosis.Finding, error) {
	d := &diagnoser{store: newStore(Config{ReadOnly: true, BusyTimeout: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)})}
	if check, err := d.run(ctx, path); err != nil {
		e, _ := errors.AsType[*sequent.Error](d.store.wrap(err))
		d.Error(check, e)
	}
	return d.Findings, failure(ctx.Err())
}

type diagnoser struct {
	store *Store
	diagnosis.Report
}

// run returns the check that failed, and why.
func (d *diagnoser) run(ctx context.Context, path string) (check string, err error) {
	if err := d.store.locate(path); err != nil && !isMissing(err) {
		return "path", err
	}
	path = d.store.path
	dir := filepath.Dir(path)
	parent := dir
	for _, err := os.Stat(parent); isMissing(err) && parent != filepath.Dir(parent); _, err = os.Stat(parent) {
		parent = filepath.Dir(parent)
	}
	if err := probe(parent); err != nil && codeOf(err) != codeOf(syscall.ENOSPC) {
		d.Fail("directory", "make it writable for this user, or use another directory", "nothing can be stored in %s: %v", dir, err)
	} else if parent != dir {
		d.OK("directory", "%s does not exist; it is created at the first start", dir)
	} else {
		d.OK("directory", "%s is writable", dir)
	}
	if parent != dir {
		return "", nil
	}
	if err := d.disk(dir); err != nil {
		return "free space", err
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		d.OK("file", "%s does not exist; it is created at the first start", path)
		return "", nil
	case !writable(path):
		d.Fail("file", "make it readable and writable for this user", "%s is read-only: nothing can be stored", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		d.Warn("file", "chmod 600 "+path, "%s is accessible to other users of this machine (mode %s)", path, info.Mode().Perm())
	default:
		d.OK("file", "%s, %d KiB", path, info.Size()>>10)
	}
	if err := d.lock(ctx); err != nil {
		return "lock", err
	}
	return d.database(ctx)
}

// isMissing reports whether err means that a file or one of its directories does not
// exist.
func isMissing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// probe creates a directory in dir and removes it. Permissions do not tell whether that
// works, for example for root in /proc.
func probe(dir string) error {
	name, err := os.MkdirTemp(dir, ".sequent-doctor-")
	if err != nil {
		return err
	}
	return os.Remove(name)
}

// disk checks the file system and the free space.
func (d *diagnoser) disk(dir string) error {
	if remote(dir) {
		d.Warn("file system", "use a file on a local disk", "%s is on a network: the store is slower there, and depends on the file locks of the network", dir)
	}
	free, err := freeSpace(dir)
	switch {
	case err != nil:
	case free < 1<<20:
		d.Fail("free space", "free some space on the disk", "%d KiB free, too little to store more", free>>10)
	case free < 64<<20:
		d.Warn("free space", "free some space on the disk", "%d MiB free", free>>20)
	default:
		d.OK("free space", "%d MiB free", free>>20)
	}
	return err
}

// lock checks that the file lock becomes free within two seconds.
func (d *diagnoser) lock(ctx context.Context) error {
	path := d.store.path + ".lock"
	l := fairlock.New(path, os.O_RDONLY)
	err := l.Acquire(ctx, d.store.busyTimeout)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.Is(err, fairlock.ErrTimeout):
		d.Fail("lock", "find the process that holds "+path+" (lsof, or the Resource Monitor on Windows) and stop it",
			"another process has held the lock for two seconds and blocks writers")
		return nil
	case err == nil:
		d.OK("lock", "free")
	}
	return errors.Join(err, l.Close())
}

// database checks the format and integrity of the file, that every session has the entries that its
// header says, and a sample of sessions: their proofs, and that searches find their thoughts.
func (d *diagnoser) database(ctx context.Context) (check string, err error) {
	db, have, err := d.store.inspect(ctx)
	if err != nil {
		return "database", err
	}
	defer db.Close()
	if have == 0 {
		d.OK("database", "the file is empty; its tables are created at the first start")
		return "", nil
	}
	var version, verdict string
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version(), quick_check FROM pragma_quick_check LIMIT 1").Scan(&version, &verdict); err != nil {
		return "database", err
	}
	if verdict != "ok" {
		return "database", failed(sqlite3.SQLITE_CORRUPT, errors.New(verdict))
	}
	d.OK("database", "format %d, SQLite %s; quick_check found no damage", have, version)
	var sessions, thoughts, incomplete, deleted int
	err = db.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(len), 0), coalesce(sum(entries <> (SELECT count(*) FROM tool_log WHERE session = key)), 0),
			(SELECT deleted FROM tool_state) FROM tool_sessions`).Scan(&sessions, &thoughts, &incomplete, &deleted)
	if err != nil {
		return "contents", err
	}
	if incomplete > 0 {
		d.Fail("contents", "run sequent store verify --all, which names them; restore the file from a backup, or delete those sessions",
			"%d of %d sessions lack entries", incomplete, sessions)
		return "", nil
	}
	d.OK("contents", "sessions: %d, thoughts: %d", sessions, thoughts)
	if deleted > 0 {
		d.Warn("deleted text", "run sequent store compact", "%d sessions were deleted since the file was rewritten, which may hold remains of them", deleted)
	}
	s, err := Open(ctx, Config{Path: d.store.path, ReadOnly: true, Logger: d.store.log})
	if err == nil {
		fix := fmt.Sprintf(`run sqlite3 %q "INSERT INTO tool_words (tool_words) VALUES ('delete-all'); UPDATE tool_state SET indexed = 0"; then the next thoughts make the index anew`, s.path)
		err = errors.Join(d.Sample(ctx, s, fix), s.Close())
	}
	return "search", err
}

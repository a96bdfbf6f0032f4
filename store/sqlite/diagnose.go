package sqlite

import (
	"context"
	"database/sql"
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
)

// Diagnose checks the store at path, its directory and its disk for problems. It
// changes nothing, except that it creates and removes a directory where the store is to be
// created, and may run while the store is in use. It returns an error only
// if ctx ends.
func Diagnose(ctx context.Context, path string) ([]diagnosis.Finding, error) {
	d := &diagnoser{store: newStore(Config{ReadOnly: true, BusyTimeout: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)})}
	d.store.path = path
	if d.directory() {
		d.disk()
		if d.file() {
			d.lock(ctx)
			d.database(ctx)
		}
	}
	return d.Findings, wrap(ctx.Err())
}

type diagnoser struct {
	store *Store
	diagnosis.Report
}

func (d *diagnoser) fail(check string, err error) {
	e, _ := errors.AsType[*sequent.Error](d.store.convert(err))
	d.Error(check, e)
}

// directory checks the directory of the store, and reports whether it exists.
func (d *diagnoser) directory() bool {
	path, err := d.store.locate(d.store.path)
	switch {
	case err == nil:
		d.store.path = path
	case isMissing(err):
		if d.store.path, err = filepath.Abs(d.store.path); err != nil {
			d.fail("path", err)
			return false
		}
	default:
		d.fail("path", err)
		return false
	}
	dir := filepath.Dir(d.store.path)
	info, err := os.Stat(dir)
	switch {
	case isMissing(err):
		d.missing(dir)
		return false
	case err != nil:
		d.fail("directory", err)
		return false
	case !writableDir(dir):
		d.Fail("directory", "make it writable for this user, or use another directory",
			"%s is not writable, so the store is read-only", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0:
		d.Warn("directory", "chmod go-w "+dir,
			"%s is writable by other users, who could replace the store", dir)
	default:
		if _, err := os.Stat(d.store.path); isMissing(err) {
			if err := probe(dir); err != nil {
				d.Fail("directory", otherDirectory, "the store cannot be created in %s: %v", dir, err)
				return false
			}
		}
		d.OK("directory", "%s is writable", dir)
	}
	return true
}

// otherDirectory is the fix of a directory in which nothing can be created.
const otherDirectory = "use another directory, or make this one"

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

// missing checks whether a directory can be created in the nearest parent that exists.
func (d *diagnoser) missing(dir string) {
	parent := filepath.Dir(dir)
	for _, err := os.Stat(parent); isMissing(err) && parent != filepath.Dir(parent); _, err = os.Stat(parent) {
		parent = filepath.Dir(parent)
	}
	err := probe(parent)
	if err != nil {
		d.Fail("directory", otherDirectory, "%s does not exist and cannot be created in %s: %v", dir, parent, err)
		return
	}
	d.OK("directory", "%s does not exist; it is created at the first start", dir)
}

// disk checks the file system and the free space.
func (d *diagnoser) disk() {
	dir := filepath.Dir(d.store.path)
	if name, remote := remoteFS(dir); remote {
		d.Warn("file system", "use a file on a local disk",
			"%s is on %s: the store is slower there, and depends on the file locks of the network", dir, name)
	} else {
		d.OK("file system", "local disk")
	}
	free, err := freeSpace(dir)
	switch {
	case err != nil:
		d.fail("free space", err)
	case free < 1<<20:
		d.Fail("free space", "free some space on the disk", "%d KiB free, too little to store more", free>>10)
	case free < 64<<20:
		d.Warn("free space", "free some space on the disk", "%d MiB free", free>>20)
	default:
		d.OK("free space", "%d MiB free", free>>20)
	}
}

// file checks the type and mode of the file and the size of its log. It reports
// whether the file can be read.
func (d *diagnoser) file() bool {
	path := d.store.path
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.OK("file", "%s does not exist; it is created at the first start", path)
		return false
	case err != nil:
		d.fail("file", err)
		return false
	case !readable(path):
		d.Fail("file", "make it readable and writable for this user", "%s is not readable", path)
		return false
	case !writable(path):
		d.Fail("file", "make it writable for this user", "%s is read-only: nothing can be stored", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		d.Warn("file", "chmod 600 "+path, "%s is accessible to other users of this machine (mode %s)", path, info.Mode().Perm())
	default:
		d.OK("file", "%s, %d KiB", path, info.Size()>>10)
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 256<<20 {
		d.Warn("log", "look for a hanging program that has the store open",
			"%s-wal has %d MiB: SQLite cannot checkpoint it while a program reads an old state", path, wal.Size()>>20)
	}
	return true
}

// lock checks that the file lock becomes free within two seconds.
func (d *diagnoser) lock(ctx context.Context) {
	path := d.store.path + ".lock"
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		d.OK("lock", "never used")
		return
	}
	l := &fileLock{path: path, flag: os.O_RDONLY}
	err := l.acquire(ctx, d.store.busyTimeout)
	switch {
	case errors.Is(err, sequent.ErrBusy):
		d.Fail("lock", "find the process that holds "+path+" (lsof, or the Resource Monitor on Windows) and stop it",
			"another process has held the lock for two seconds and blocks writers")
	case err != nil:
		d.fail("lock", err)
	default:
		if err := errors.Join(l.release(), l.free.close()); err != nil {
			d.fail("lock", err)
			return
		}
		d.OK("lock", "free")
	}
}

// database checks the format, journal and integrity of the file.
func (d *diagnoser) database(ctx context.Context) {
	db, err := d.store.connect(ctx)
	if err != nil {
		d.fail("database", err)
		return
	}
	defer db.Close()
	have, err := format(ctx, db)
	if err != nil {
		d.fail("format", err)
		return
	}
	var version string
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		d.fail("format", err)
		return
	}
	d.OK("format", "format %d, SQLite %s", have, version)
	if mode, err := journalMode(ctx, db); err != nil {
		d.fail("journal", err)
	} else { // a backup has another mode than wal until it is opened
		d.OK("journal", "%s", mode)
	}
	var verdict string
	switch err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); {
	case err != nil:
		d.fail("integrity", err)
		return
	case verdict != "ok":
		e := new(sequent.Error)
		describe(e, sqlite3.SQLITE_CORRUPT)
		d.Fail("integrity", e.Fix, "the file is damaged: %s", verdict)
		return
	}
	d.OK("integrity", "quick_check found no damage")
	if have == latest && d.contents(ctx, db) {
		d.search(ctx)
	}
}

// contents checks that every session has the entries that its header says, and reports
// whether it has.
func (d *diagnoser) contents(ctx context.Context, db *sql.DB) (whole bool) {
	var sessions, thoughts, incomplete, deleted int
	err := db.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(len), 0), coalesce(sum(entries <> (SELECT count(*) FROM tool_log WHERE session = key)), 0),
			(SELECT deleted FROM tool_state) FROM tool_sessions`).Scan(&sessions, &thoughts, &incomplete, &deleted)
	switch {
	case err != nil:
		d.fail("contents", err)
		return false
	case incomplete > 0:
		d.Fail("contents", "run sequent store verify --all, which names them; restore the file from a backup, or delete those sessions",
			"%d of %d sessions lack entries", incomplete, sessions)
		return false
	}
	d.OK("contents", "sessions: %d, thoughts: %d", sessions, thoughts)
	if deleted > 0 {
		d.Warn("deleted text", "run sequent store compact", "%d sessions were deleted since the file was rewritten, which may hold remains of them", deleted)
	}
	return true
}

// search checks a sample of sessions: their proofs, and that searches find their thoughts.
func (d *diagnoser) search(ctx context.Context) {
	s, err := Open(ctx, Config{Path: d.store.path, ReadOnly: true, Logger: d.store.log})
	if err == nil {
		fix := fmt.Sprintf(`run sqlite3 %q "INSERT INTO tool_words (tool_words) VALUES ('delete-all'); UPDATE tool_state SET indexed = 0"; then the next thoughts make the index anew`, s.path)
		err = errors.Join(d.Sample(ctx, s, fix), s.Close())
	}
	if err != nil {
		d.fail("search", err)
	}
}

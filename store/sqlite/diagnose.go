package sqlite

import (
	"context"
	"database/sql"
	"errors"
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
	d := &diagnoser{store: &Store{
		path: path, readOnly: true, busyTimeout: time.Second,
		log: slog.New(slog.DiscardHandler), closed: make(chan struct{}),
	}}
	d.library()
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
	e, _ := errors.AsType[*sequent.Error](wrap(err))
	d.Error(check, e)
}

func (d *diagnoser) library() {
	version, err := libraryVersion()
	if err == nil {
		err = checkVersion()
	}
	if err != nil {
		d.fail("sqlite", err)
		return
	}
	d.OK("sqlite", "SQLite %s (%s or newer is required)", version, minVersion)
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
	parent := dir
	info, err := os.Lstat(parent)
	for ; isMissing(err) && parent != filepath.Dir(parent); info, err = os.Lstat(parent) {
		parent = filepath.Dir(parent)
	}
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		info, err = os.Stat(parent)
	}
	switch {
	case err == nil && !info.IsDir():
		err = errors.New("it is not a directory")
	case err == nil:
		err = probe(parent)
	}
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
	err := l.acquire(ctx, 2*time.Second)
	switch {
	case errors.Is(err, sequent.ErrBusy):
		who := "another process"
		if h := lockHolder(wholeFile, path); h != nil {
			who = h.String()
		}
		d.Fail("lock", "find the process that holds "+path+" (lsof, or the Resource Monitor on Windows) and stop it",
			"%s has held the lock for two seconds and blocks writers", who)
	case err != nil:
		d.fail("lock", err)
	default:
		if err := errors.Join(l.release(), l.close()); err != nil {
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
	version, err := schemaVersion(ctx, db)
	switch {
	case err != nil:
		d.fail("format", err)
		return
	case version < latest:
		d.OK("format", "format %d, migrated to %d at the next start", version, latest)
	case version > latest:
		d.OK("format", "format %d of a newer program, which this one for format %d may write", version, latest)
	default:
		d.OK("format", "format %d", version)
	}
	var layout int
	if err := db.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&layout); err != nil {
		d.fail("layout", err)
	} else if layout == 0 && version > 0 {
		d.Warn("layout", "run sequent compact once",
			"the file was created by an older version: it does not get smaller, and may hold deleted text")
	}
	if mode, err := journalMode(ctx, db); err != nil {
		d.fail("journal", err)
	} else if _, remote := remoteFS(filepath.Dir(d.store.path)); mode != "wal" && !remote {
		d.Warn("journal", "start the program, which sets it", "the journal mode is %s, not wal", mode)
	} else {
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
	if version > 0 && d.contents(ctx, db) && version == latest {
		d.search(ctx)
	}
}

// contents checks that every session has the thoughts that its header says, and reports
// whether it has.
func (d *diagnoser) contents(ctx context.Context, db *sql.DB) (whole bool) {
	var sessions, thoughts, incomplete int
	err := db.QueryRowContext(ctx, `
		SELECT count(*), ifnull(sum(n), 0), ifnull(sum(n <> len OR n <> last), 0)
		FROM (
			SELECT s.len, count(t.seq) AS n, ifnull(max(t.seq), 0) AS last
			FROM tool_sessions s LEFT JOIN thoughts t ON t.session = s.key GROUP BY s.key
		)`).Scan(&sessions, &thoughts, &incomplete)
	switch {
	case err != nil:
		d.fail("contents", err)
	case incomplete > 0:
		d.Fail("contents", "restore the file from a backup, or delete those sessions",
			"%d of %d sessions lack thoughts", incomplete, sessions)
	default:
		d.OK("contents", "sessions: %d, thoughts: %d", sessions, thoughts)
		whole = true
	}
	return whole
}

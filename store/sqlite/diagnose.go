package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
)

// A Status says how good a finding is.
type Status string

// The values of Status.
const (
	OK   Status = "ok"
	Warn Status = "warn" // works, but not as well or as safely as it could
	Fail Status = "fail" // does not work
)

// A Finding is what one check of [Diagnose] found.
type Finding struct {
	Check  string `json:"check"` // what was looked at, in a word or two
	Status Status `json:"status"`
	Detail string `json:"detail"`        // what was found and what it means; may hold paths
	Fix    string `json:"fix,omitempty"` // what to do about it
}

// Diagnose looks at the store at path, and at what is around it, for anything
// that would keep it from working. It changes nothing, and may be used while
// others use the store. It returns an error only if ctx is done.
func Diagnose(ctx context.Context, path string) ([]Finding, error) {
	d := &diagnosis{store: &Store{
		path: path, readOnly: true, patience: time.Second,
		log: slog.New(slog.DiscardHandler), closed: make(chan struct{}),
	}}
	d.library()
	if d.place() && d.filesystem() && d.file() {
		d.lock(ctx)
		d.database(ctx)
	}
	return d.findings, wrap(ctx.Err())
}

type diagnosis struct {
	store    *Store
	findings []Finding
}

func (d *diagnosis) add(check string, status Status, fix, format string, args ...any) {
	d.findings = append(d.findings, Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

// broken adds what an error means.
func (d *diagnosis) broken(check string, err error) {
	e, _ := errors.AsType[*sequent.Error](wrap(err))
	detail := e.Msg
	if e.Err != nil {
		detail += " (" + e.Err.Error() + ")"
	}
	d.add(check, Fail, cmp.Or(e.Fix, "report this as a fault of the program"), "%s", detail)
}

func (d *diagnosis) library() {
	version, err := libraryVersion()
	if err == nil {
		err = checkVersion()
	}
	if err != nil {
		d.broken("sqlite", err)
		return
	}
	d.add("sqlite", OK, "", "SQLite %s, which loses no data between processes (since %s)", version, oldest)
}

// place looks at the directory. It reports whether it makes sense to go on, as
// the other checks do.
func (d *diagnosis) place() bool {
	path, err := d.store.locate(d.store.path)
	switch {
	case err == nil:
		d.store.path = path
	case errors.Is(err, os.ErrNotExist):
		if d.store.path, err = filepath.Abs(d.store.path); err != nil {
			d.broken("path", err)
			return false
		}
	default:
		d.broken("path", err)
		return false
	}
	dir := filepath.Dir(d.store.path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.add("directory", OK, "", "%s is not there yet; it is made at the first start", dir)
		return false
	case err != nil:
		d.broken("directory", err)
		return false
	case !writableDir(dir):
		d.add("directory", Fail, "make it writable for this user, or name a file elsewhere",
			"%s cannot be written: no file can be made in it, so the store can only be read", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0:
		d.add("directory", Warn, "chmod go-w "+dir,
			"%s can be written by other users, who could replace the store", dir)
	default:
		d.add("directory", OK, "", "%s can be written", dir)
	}
	return true
}

// filesystem looks at the disk.
func (d *diagnosis) filesystem() bool {
	dir := filepath.Dir(d.store.path)
	if name, remote := remoteFS(dir); remote {
		d.add("file system", Warn, "name a file on a local disk",
			"%s is on %s: the store works more slowly there, and its locks are only as good as those of the network", dir, name)
	} else {
		d.add("file system", OK, "", "the disk is local")
	}
	free, err := freeSpace(dir)
	switch {
	case err != nil:
		d.broken("free space", err)
	case free < 1<<20:
		d.add("free space", Fail, "free some space on the disk", "%d KiB are left: nothing more can be stored", free>>10)
	case free < 64<<20:
		d.add("free space", Warn, "free some space on the disk", "%d MiB are left", free>>20)
	default:
		d.add("free space", OK, "", "%d MiB are left", free>>20)
	}
	return true
}

// file looks at the database as a file.
func (d *diagnosis) file() bool {
	path := d.store.path
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.add("file", OK, "", "%s is not there yet; it is made at the first start", path)
		return false
	case err != nil:
		d.broken("file", err)
		return false
	case !readable(path):
		d.add("file", Fail, "give this user the right to read and write it", "%s cannot be read", path)
		return false
	case !writable(path):
		d.add("file", Fail, "give this user the right to write it", "%s can only be read: nothing can be stored", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		d.add("file", Warn, "chmod 600 "+path, "%s is open to other users of this machine (%s)", path, info.Mode().Perm())
	default:
		d.add("file", OK, "", "%s, %d KiB", path, info.Size()>>10)
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 256<<20 {
		d.add("log", Warn, "look for a program that has the store open for reading and does not go on",
			"%s-wal has %d MiB: it cannot be worked off while somebody reads an old state", path, wal.Size()>>20)
	}
	return true
}

// lock looks whether somebody holds the file lock and does not let go.
func (d *diagnosis) lock(ctx context.Context) {
	path := d.store.path + ".lock"
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		d.add("lock", OK, "", "nobody has written yet")
		return
	}
	l := &fileLock{path: path, flag: os.O_RDONLY}
	err := l.acquire(ctx, 2*time.Second)
	switch {
	case errors.Is(err, sequent.ErrBusy):
		d.add("lock", Fail, "find the process that holds "+path+" (lsof, or the Resource Monitor on Windows) and end it",
			"another process has held the lock for two seconds: writing waits for it")
	case err != nil:
		d.broken("lock", err)
	default:
		if err := errors.Join(l.release(), l.close()); err != nil {
			d.broken("lock", err)
			return
		}
		d.add("lock", OK, "", "free")
	}
}

// database looks into the file.
func (d *diagnosis) database(ctx context.Context) {
	db, err := d.store.connect(ctx)
	if err != nil {
		d.broken("database", err)
		return
	}
	defer db.Close()
	version, err := schemaVersion(ctx, db)
	switch {
	case err != nil:
		d.broken("format", err)
		return
	case version < latest:
		d.add("format", OK, "", "format %d, which is brought to %d at the next start", version, latest)
	default:
		d.add("format", OK, "", "format %d", version)
	}
	if mode, err := journalMode(ctx, db); err != nil {
		d.broken("journal", err)
	} else if _, remote := remoteFS(filepath.Dir(d.store.path)); mode != "wal" && !remote {
		d.add("journal", Warn, "it is set at the next start", "the journal mode is %s, not wal", mode)
	} else {
		d.add("journal", OK, "", "%s", mode)
	}
	var verdict string
	switch err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); {
	case err != nil:
		d.broken("integrity", err)
		return
	case verdict != "ok":
		e := new(sequent.Error)
		describe(e, sqlite3.SQLITE_CORRUPT)
		d.add("integrity", Fail, e.Fix, "the file is damaged: %s", verdict)
		return
	}
	d.add("integrity", OK, "", "SQLite finds no fault in the file")
	if version > 0 {
		d.contents(ctx, db)
	}
}

func (d *diagnosis) contents(ctx context.Context, db *sql.DB) {
	var sessions, thoughts, torn int
	err := db.QueryRowContext(ctx, `
		SELECT count(*), ifnull(sum(n), 0), ifnull(sum(n <> len OR n <> last), 0)
		FROM (
			SELECT s.len, count(t.seq) AS n, ifnull(max(t.seq), 0) AS last
			FROM tool_sessions s LEFT JOIN thoughts t ON t.session = s.key GROUP BY s.key
		)`).Scan(&sessions, &thoughts, &torn)
	switch {
	case err != nil:
		d.broken("contents", err)
	case torn > 0:
		d.add("contents", Fail, "restore the file from a backup, or delete those sessions",
			"%d of %d sessions do not have the thoughts that they should", torn, sessions)
	default:
		d.add("contents", OK, "", "sessions: %d, thoughts: %d", sessions, thoughts)
	}
}

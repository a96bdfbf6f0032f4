package sqlite

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/fairlock"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// failures are the errors for SQLite's result codes, without their causes.
var failures = map[int]sequent.Error{
	sqlite3.SQLITE_FULL: {
		Code: sequent.CodeFull, Msg: "the store's disk is full; nothing was stored", Fix: "free some space and try again; a restart is not needed",
	},
	sqlite3.SQLITE_READONLY: {
		Code: sequent.CodeReadOnly, Msg: "the store is read-only; nothing was stored",
		Fix: "make the file and its directory writable, or use another file",
	},
	sqlite3.SQLITE_CORRUPT: {
		Code: sequent.CodeCorrupt, Msg: "the store's file is damaged",
		Fix: "check the disk; then restore the file from a backup, or rename it and try `sqlite3 RENAMED .recover | sqlite3 NEW`",
	},
	sqlite3.SQLITE_NOTADB: {
		Code: sequent.CodeCorrupt, Msg: "the store's file is not a SQLite database, or its beginning is damaged",
		Fix: "use another file, or restore this one from a backup; `sequent doctor` shows details",
	},
	sqlite3.SQLITE_BUSY: {
		Code: sequent.CodeBusy, Msg: "another process locked the store for too long; nothing was stored",
		Fix: "try again; if it persists, look for a hanging program that has the store open",
	},
	sqlite3.SQLITE_CANTOPEN: {
		Code: sequent.CodeUnavailable, Msg: "the store's file cannot be opened",
		Fix: "check that this user may read and write it and its directory; `sequent doctor` shows details",
	},
	sqlite3.SQLITE_IOERR: {
		Code: sequent.CodeUnavailable, Msg: "the store's file cannot be read or written",
		Fix: "check the disk, the quota and the limit for file sizes; `sequent doctor` shows details",
	},
	sqlite3.SQLITE_NOMEM: {Code: sequent.CodeUnavailable, Msg: "the store ran out of memory", Fix: "free some memory and try again"},
	sqlite3.SQLITE_TOOBIG: {
		Code: sequent.CodeLimitExceeded, Msg: "the text is too large for the store", Fix: "split it into several thoughts",
	},
}

// sameAs are result codes that are told like others.
var sameAs = map[int]int{
	sqlite3.SQLITE_PERM: sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FORMAT: sqlite3.SQLITE_CORRUPT,
	sqlite3.SQLITE_LOCKED: sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL: sqlite3.SQLITE_BUSY,
}

// failed returns the error for a result code, or one for a failure that is not expected.
func failed(code int, cause error) *sequent.Error {
	e, known := failures[cmp.Or(sameAs[code], code)]
	if !known {
		e = sequent.Error{Code: sequent.CodeInternal, Msg: "the store failed unexpectedly"}
	}
	e.Err = cause
	return &e
}

// codeOf returns the primary result code of SQLite for an error of the driver, or the one that
// means the same as an error of the operating system.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	_, ofFile := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return sqlite3.SQLITE_FULL
	case isReadOnly(err):
		return sqlite3.SQLITE_READONLY
	case errors.Is(err, fairlock.ErrTimeout):
		return sqlite3.SQLITE_BUSY
	case ofFile:
		return sqlite3.SQLITE_CANTOPEN
	}
	return sqlite3.SQLITE_INTERNAL
}

// isReadOnly reports whether an error of the operating system means that write permission is missing.
func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// failure converts an error of the driver or the operating system to a [sequent.Error].
func failure(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: err}
	}
	code := codeOf(err)
	if code == sqlite3.SQLITE_ERROR { // a statement does not fit the tables
		return sqlstore.Incomplete(err)
	}
	return failed(code, err)
}

// wrap converts an error like failure, with two exceptions: every error of a closed store is
// [sqlstore.ErrClosed], and an I/O error on a full disk has [sequent.CodeFull], which SQLite does
// not always report.
func (s *Store) wrap(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-s.closed:
		return sqlstore.ErrClosed
	default:
	}
	if codeOf(err) == sqlite3.SQLITE_IOERR {
		const maxGrowth = 64 << 10 // SQLite extends a file by less at a time
		if free, unknown := freeSpace(filepath.Dir(s.path)); unknown == nil && free < maxGrowth {
			return failed(sqlite3.SQLITE_FULL, err)
		}
	}
	return failure(err)
}

// uncertain returns the error for one of COMMIT. The frames of a commit are in the write-ahead log
// before fdatasync is called and before the log's index has them. If one of these fails, SQLite
// rolls back, but a process that recovers the log after a crash finds a valid commit. Known are a
// full disk, because a write that failed leaves no valid frame, and a lock that was not free.
func (s *Store) uncertain(err error) error {
	switch codeOf(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return err
	}
	return &sequent.Error{
		Code: sequent.CodeOf(s.wrap(err)), Uncertain: true,
		Msg: "the store's file cannot be written; the change may or may not have been stored",
		Fix: sequent.FixUncertain, Err: err,
	}
}

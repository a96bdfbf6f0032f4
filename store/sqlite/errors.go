package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// A commitError is an error of COMMIT.
type commitError struct{ error }

// Unwrap returns SQLite's error.
func (e commitError) Unwrap() error { return e.error }

// uncertain reports whether err leaves it unknown if a transaction was stored. The
// frames of a commit are in the write-ahead log before fdatasync is called and before
// the log's index has them. If one of these fails, SQLite rolls back, but a process
// that recovers the log after a crash finds a valid commit. Known are a full disk,
// because a write that failed leaves no valid frame, and a lock that was not free.
func uncertain(err error) bool {
	if _, ok := errors.AsType[commitError](err); !ok {
		return false
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return true
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return false
	}
	return true
}

// wrap converts err like convert. An error of COMMIT may be Uncertain.
func (s *Store) wrap(err error) error {
	if uncertain(err) {
		e := &sequent.Error{
			Code: sequent.CodeOf(s.convert(err)), Uncertain: true,
			Msg: "the store's file cannot be written; the change may or may not have been stored",
			Fix: sequent.FixUncertain, Err: err,
		}
		if e.Code == sequent.CodeFull {
			e.Msg = "the store's disk is full; the change may or may not have been stored"
		}
		return e
	}
	return s.convert(err)
}

// convert converts err like the function wrap, with two exceptions: every error of
// a closed store is sqlstore.ErrClosed, and an I/O error on a full disk has
// [sequent.CodeFull], which SQLite does not always report.
func (s *Store) convert(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-s.closed:
		return sqlstore.ErrClosed
	default:
	}
	err = wrap(err)
	e, ok := errors.AsType[*sqlite.Error](err)
	if ok && e.Code()&0xff == sqlite3.SQLITE_IOERR {
		const maxGrowth = 64 << 10 // SQLite extends a file by less at a time
		if free, err2 := freeSpace(filepath.Dir(s.path)); err2 == nil && free < maxGrowth {
			full := &sequent.Error{Err: err}
			describe(full, sqlite3.SQLITE_FULL)
			return full
		}
	}
	return err
}

// wrap converts an error of the driver or the operating system to a
// *sequent.Error.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: err}
	}
	out := &sequent.Error{Code: sequent.CodeInternal, Msg: "the store failed unexpectedly", Err: err}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		describe(out, e.Code())
		return out
	}
	switch {
	case isFull(err):
		describe(out, sqlite3.SQLITE_FULL)
	case isReadOnly(err):
		describe(out, sqlite3.SQLITE_READONLY)
	default:
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			describe(out, sqlite3.SQLITE_CANTOPEN)
		}
	}
	return out
}

// describe sets the code, message and fix of e for a result code of SQLite.
func describe(e *sequent.Error, code int) {
	const doctor = "run `sequent doctor` to find the cause"
	switch code & 0xff {
	case sqlite3.SQLITE_ERROR: // a statement does not fit the tables
		*e = *sqlstore.Incomplete(e.Err)
	case sqlite3.SQLITE_FULL:
		e.Code = sequent.CodeFull
		e.Msg = "the store's disk is full; nothing was stored"
		e.Fix = "free some space and try again; a restart is not needed"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		e.Code = sequent.CodeReadOnly
		e.Msg = "the store is read-only; nothing was stored"
		e.Fix = "make the file and its directory writable, or use another file"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT:
		e.Code = sequent.CodeCorrupt
		e.Msg = "the store's file is damaged"
		e.Fix = "check the disk; then restore the file from a backup, or rename it and try `sqlite3 RENAMED .recover | sqlite3 NEW`; `sequent doctor` shows details"
	case sqlite3.SQLITE_NOTADB:
		e.Code = sequent.CodeCorrupt
		e.Msg = "the store's file is not a SQLite database, or its beginning is damaged"
		e.Fix = "use another file, or restore this one from a backup"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		*e = *busy(e.Err)
	case sqlite3.SQLITE_CANTOPEN:
		e.Code = sequent.CodeUnavailable
		e.Msg = "the store's file cannot be opened"
		e.Fix = doctor
	case sqlite3.SQLITE_IOERR:
		e.Code = sequent.CodeUnavailable
		e.Msg = "the store's file cannot be read or written"
		e.Fix = "check the disk, the quota and the limit for file sizes; " + doctor
	case sqlite3.SQLITE_NOMEM:
		e.Code = sequent.CodeUnavailable
		e.Msg = "the store ran out of memory"
		e.Fix = "free some memory and try again"
	case sqlite3.SQLITE_TOOBIG:
		e.Code = sequent.CodeLimitExceeded
		e.Msg = "the text is too large for the store"
		e.Fix = "split it into several thoughts"
	}
}

// busy returns the error of a wait for a lock that took too long.
func busy(cause error) *sequent.Error {
	return &sequent.Error{
		Code: sequent.CodeBusy,
		Msg:  "another process locked the store for too long; nothing was stored",
		Fix:  "try again; if it persists, look for a hanging program that has the store open",
		Err:  cause,
	}
}

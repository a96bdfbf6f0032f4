package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// wrap gives an error of a closed store its name, and others their code. That
// a disk is full SQLite does not always say.
func (s *Store) wrap(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-s.closed:
		return record.ErrClosed
	default:
	}
	err = wrap(err)
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_IOERR {
		const little = 64 << 10 // SQLite makes files grow by less
		if free, err2 := freeSpace(filepath.Dir(s.path)); err2 == nil && free < little {
			full := &sequent.Error{Err: err}
			describe(full, sqlite3.SQLITE_FULL)
			return full
		}
	}
	return err
}

// wrap is the one place where errors of the driver and the system become
// errors of sequent.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was given up", Err: err}
	}
	out := &sequent.Error{Code: sequent.CodeInternal, Msg: "the store failed in an unexpected way", Err: err}
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

// describe says what a result code of SQLite means to a user.
func describe(e *sequent.Error, code int) {
	const doctor = "run `sequent doctor` to find the cause"
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		e.Code = sequent.CodeFull
		e.Msg = "there is no space left for the store; nothing was stored"
		e.Fix = "free some space on its disk and try again; a restart is not needed"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		e.Code = sequent.CodeReadOnly
		e.Msg = "the store can only be read; nothing was stored"
		e.Fix = "make the file and its directory writable, or name another file"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT:
		e.Code = sequent.CodeCorrupt
		e.Msg = "the store's file is damaged"
		e.Fix = "restore it from a backup, or move it away and try `sqlite3 OLD .recover | sqlite3 NEW`; `sequent doctor` tells more"
	case sqlite3.SQLITE_NOTADB:
		e.Code = sequent.CodeCorrupt
		e.Msg = "the store's file is not a SQLite database, or its beginning is damaged"
		e.Fix = "name another file, or restore this one from a backup"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		err := e.Err
		*e = *busy(err)
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
		e.Msg = "a text is larger than the store can keep"
		e.Fix = "split it into several thoughts"
	}
}

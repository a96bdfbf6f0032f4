package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A writer is the connection that writes, with its prepared statements.
type writer struct {
	db     *sql.DB
	conn   *sql.Conn
	failed bool // SQLite failed: replace the connection

	statements                                 []*statement // the following ones, for close
	begin, commit, rollback                    *statement
	insertSession                              *statement
	moveSession, changeSession, replaceSession *statement
	insertThought, insertPlain, insertEntry    *statement
	insertTouched, trimTouched                 *statement

	stmts                                      []*sql.Stmt // the following ones, for close
	selectHeader, selectEntries                *sql.Stmt
	selectThoughts                             thoughtReader
	clearNewest, deleteThoughts, deleteCleared *sql.Stmt
	deleteSession, lastForgotten               *sql.Stmt

	cache map[sequent.Key]row // recently written sessions, at most maxCached

	last, added marks // of the transaction: the last rows it has inserted, and how many
}

// A row is the row of a session.
type row struct {
	key    int64
	header sequent.Header
}

const maxCached = 4000

// openWriter opens s.writer. The caller holds s.writing, or is Open.
func (s *Store) openWriter(ctx context.Context) error {
	synchronous := "synchronous(FULL)" // the default differs between drivers
	if s.sync == Normal {
		synchronous = "synchronous(NORMAL)"
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	w := &writer{cache: make(map[sequent.Key]row), selectThoughts: thoughtReader{single: true}}
	w.db, err = sql.Open("sqlite", s.dsn(
		synchronous, "secure_delete(1)",
		"fullfsync(1)", "checkpoint_fullfsync(1)", // macOS: flush the drive's cache
		"wal_autocheckpoint(4000)", "journal_size_limit(67108864)",
	))
	if err != nil {
		return err
	}
	if err := w.prepare(ctx); err != nil {
		return errors.Join(err, w.close())
	}
	s.writer = w
	if s.file == nil {
		s.file = info
	}
	return nil
}

func (w *writer) prepare(ctx context.Context) (err error) {
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	for _, p := range []struct {
		stmt **statement
		text string
	}{
		{&w.begin, "BEGIN IMMEDIATE"},
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.insertSession, insertSession},
		{&w.moveSession, moveSession},
		{&w.changeSession, changeSession},
		{&w.replaceSession, replaceSession},
		{&w.insertThought, insertThought},
		{&w.insertPlain, insertPlain},
		{&w.insertTouched, insertTouched},
		{&w.trimTouched, trimTouched},
		{&w.insertEntry, insertEntry},
	} {
		if *p.stmt, err = newStatement(w.conn, p.text); err != nil {
			return err
		}
		w.statements = append(w.statements, *p.stmt)
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&w.selectHeader, selectHeader},
		{&w.selectThoughts.plain, selectThoughts},
		{&w.selectThoughts.optional, selectOptional},
		{&w.selectEntries, selectEntries},
		{&w.clearNewest, clearNewest},
		{&w.deleteThoughts, deleteThoughts},
		{&w.deleteCleared, deleteCleared},
		{&w.deleteSession, deleteSession},
		{&w.lastForgotten, lastForgotten},
	} {
		if *p.stmt, err = w.conn.PrepareContext(ctx, p.text); err != nil {
			return err
		}
		w.stmts = append(w.stmts, *p.stmt)
	}
	return nil
}

// close closes the statements first: SQLite keeps a connection with open
// statements and its locks, and then does not checkpoint when the last connection
// closes.
func (w *writer) close() error {
	var err error
	for _, stmt := range w.statements {
		err = errors.Join(err, stmt.close())
	}
	for _, stmt := range w.stmts {
		err = errors.Join(err, stmt.Close())
	}
	if w.conn != nil {
		err = errors.Join(err, w.conn.Close())
	}
	return errors.Join(err, w.db.Close())
}

func (s *Store) dropWriter() error {
	if s.writer == nil {
		return nil
	}
	w := s.writer
	s.writer = nil
	return w.close()
}

// transact calls do in a transaction while holding the file lock. It commits if do
// returns nil and rolls back otherwise. ctx cancels only the wait for the lock. After
// an error nothing was stored, unless it is a commitError.
func (s *Store) transact(ctx context.Context, do func(*writer) error) error {
	return s.withWriter(ctx, func(w *writer) error {
		w.last, w.added = marks{}, marks{}
		err := w.transact(do)
		if err == nil {
			s.poller.own(w.last, w.added)
		}
		return err
	})
}

// withWriter calls do with the writer while holding the file lock. ctx cancels only
// the wait for the lock.
func (s *Store) withWriter(ctx context.Context, do func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.readOnly {
		return &sequent.Error{
			Code: sequent.CodeReadOnly,
			Msg:  "the store is read-only; nothing was stored",
			Fix:  "make the file and its directory writable and restart, or use another file",
		}
	}
	select {
	case <-s.closed:
		return record.ErrClosed
	default:
	}
	select {
	case s.writing <- struct{}{}:
	case <-s.closed:
		return record.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writing }()
	if err := s.lock.acquire(ctx, s.busyTimeout); err != nil {
		return err
	}
	defer func() {
		if err := s.lock.release(); err != nil {
			s.log.WarnContext(ctx, "releasing the file lock", "store", s.path, "error", err)
		}
	}()
	if err := s.checkInPlace(); err != nil {
		return err
	}
	if s.writer == nil {
		if err := s.openWriter(ctx); err != nil {
			return err
		}
	}
	err := do(s.writer)
	if s.writer.failed {
		err = errors.Join(err, s.dropWriter())
	}
	return err
}

// checkReplaced returns an error if there is another file at s.path than the open one:
// other processes do not see what this one would show.
func (s *Store) checkReplaced() error {
	if s.file == nil {
		return nil // the store is read-only
	}
	if err := s.checkInPlace(); err != nil {
		if _, missing := os.Stat(s.path); missing == nil {
			return err
		}
	}
	return nil
}

// checkInPlace returns an error if the open file is no longer the one at s.path:
// commits to a removed file would be lost when the process exits.
func (s *Store) checkInPlace() error {
	info, err := os.Stat(s.path)
	if err == nil && os.SameFile(info, s.file) {
		return nil
	}
	if err == nil {
		err = errors.New(s.path + " is not the file that was opened")
	}
	return &sequent.Error{
		Code: sequent.CodeUnavailable,
		Msg:  "the store's file was removed or replaced while it was in use, so it is not used any more",
		Fix:  "restart the program",
		Err:  err,
	}
}

func (w *writer) transact(do func(*writer) error) (err error) {
	defer func() {
		if _, refused := errors.AsType[*sequent.Error](err); err != nil && !refused {
			w.failed = true
		}
	}()
	if _, err := w.begin.exec(); err != nil {
		return err
	}
	open := true
	defer func() {
		if !open {
			return
		}
		clear(w.cache)
		// After some errors SQLite has rolled back already, and ROLLBACK fails.
		if _, rollbackErr := w.rollback.exec(); rollbackErr != nil {
			w.failed = true
			err = errors.Join(err, rollbackErr)
		}
	}()
	if err := do(w); err != nil {
		return err
	}
	if _, err := w.commit.exec(); err != nil {
		return commitError{err}
	}
	open = false
	return nil
}

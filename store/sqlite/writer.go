package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A writer is the one connection that writes, with its statements prepared.
type writer struct {
	db     *sql.DB
	conn   *sql.Conn
	failed bool // SQLite failed: a new connection knows nothing of that

	statements                                 []*statement // all that follow
	begin, commit, rollback                    *statement
	insertSession                              *statement
	moveSession, changeSession, replaceSession *statement
	insertThought, insertPlain                 *statement
	stmts                                      []*sql.Stmt // all that follow
	selectHeader, selectThoughts               *sql.Stmt
	emptyNewest, deleteThoughts, deleteEmpty   *sql.Stmt
	deleteSession                              *sql.Stmt

	known map[sequent.Key]row // sessions as they were last written
}

// A row is a session in the file.
type row struct {
	key    int64
	header sequent.Header
}

// maxKnown bounds writer.known.
const maxKnown = 1000

// openWriter opens s.writer. The caller has the turn, or is Open.
func (s *Store) openWriter(ctx context.Context) error {
	synchronous := "synchronous(FULL)" // drivers differ in the default
	if s.sync == Normal {
		synchronous = "synchronous(NORMAL)"
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	w := &writer{known: make(map[sequent.Key]row)}
	w.db, err = sql.Open("sqlite", s.dsn(
		synchronous,
		"fullfsync(1)", "checkpoint_fullfsync(1)", // macOS: through the drive's cache
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
		{&w.selectThoughts, selectThoughts},
		{&w.emptyNewest, emptyNewest},
		{&w.deleteThoughts, deleteThoughts},
		{&w.deleteEmpty, deleteEmpty},
		{&w.deleteSession, deleteSession},
	} {
		if *p.stmt, err = w.conn.PrepareContext(ctx, p.text); err != nil {
			return err
		}
		w.stmts = append(w.stmts, *p.stmt)
	}
	return nil
}

// close closes the statements first: SQLite keeps a connection that has any,
// with its locks, and the last one to go then does not empty the log.
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

// transact runs do in one transaction that no other process disturbs. Once it
// has begun, the caller's context does not end it: what do has done is then
// either durable or, on an error, undone.
func (s *Store) transact(ctx context.Context, do func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.readOnly {
		return &sequent.Error{
			Code: sequent.CodeReadOnly,
			Msg:  "the store can only be read; nothing was stored",
			Fix:  "make the file and its directory writable and restart, or name another file",
		}
	}
	select {
	case <-s.closed:
		return record.ErrClosed
	default:
	}
	select {
	case s.turn <- struct{}{}:
	case <-s.closed:
		return record.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	if err := s.lock.acquire(ctx, s.patience); err != nil {
		return err
	}
	defer func() {
		if err := s.lock.release(); err != nil {
			s.log.WarnContext(ctx, "the file lock could not be released", "store", s.path, "error", err)
		}
	}()
	if err := s.inPlace(); err != nil {
		return err
	}
	if s.writer == nil {
		if err := s.openWriter(ctx); err != nil {
			return err
		}
	}
	err := s.writer.transact(do)
	if s.writer.failed {
		err = errors.Join(err, s.dropWriter())
	}
	return err
}

// inPlace refuses to write to a file that is not at its path any more: what
// was acknowledged would be gone with the process.
func (s *Store) inPlace() error {
	info, err := os.Stat(s.path)
	if err == nil && os.SameFile(info, s.file) {
		return nil
	}
	if err == nil {
		err = errors.New(s.path + " is another file than the one opened")
	}
	return &sequent.Error{
		Code: sequent.CodeUnavailable,
		Msg:  "the store's file was removed or replaced while it was in use; nothing was stored",
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
		clear(w.known)
		// SQLite has rolled back already after some errors, and says so.
		if _, undo := w.rollback.exec(); undo != nil {
			w.failed = true
			err = errors.Join(err, undo)
		}
	}()
	if err := do(w); err != nil {
		return err
	}
	if _, err := w.commit.exec(); err != nil {
		return err
	}
	open = false
	return nil
}

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// A writer is the connection that writes.
type writer struct {
	db         *sql.DB
	conn       *sql.Conn
	statements map[string]*statement
	failed     bool        // SQLite failed: replace the connection
	file, log  os.FileInfo // the file and its write-ahead log

	cache   map[sequent.Key]sqlstore.Row // sessions as this writer has written or read them last, at most maxCached
	waiting int                          // thoughts that may have to be indexed
	words   []byte                       // of a thought that is indexed
}

const maxCached = 4000

// errPrepare is the error of openWriter for a file that must be prepared first.
var errPrepare = errors.New("the file has no tables or another journal mode")

// openWriter opens s.writer. The caller holds s.writing, or is Open. It prepares the file, or
// returns errPrepare if that is necessary and must not be done.
func (s *Store) openWriter(ctx context.Context, prepare bool) (err error) {
	synchronous := "synchronous(FULL)" // the default differs between drivers
	if s.sync == Normal {
		synchronous = "synchronous(NORMAL)"
	}
	w := &writer{statements: make(map[string]*statement), cache: make(map[sequent.Key]sqlstore.Row), waiting: indexAt}
	w.db, err = sql.Open("sqlite", s.dsn(
		synchronous, "secure_delete(1)",
		"fullfsync(1)", "checkpoint_fullfsync(1)", // macOS: flush the drive's cache
		"wal_autocheckpoint(4000)", "journal_size_limit(67108864)",
	))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = cmpErr(err, w.close())
		}
	}()
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	if prepare {
		err = s.prepare(ctx, w.conn)
	} else {
		err = s.prepared(ctx, w.conn)
	}
	if err != nil {
		return err
	}
	if w.file, err = os.Stat(s.path); err != nil {
		return err
	}
	w.log, _ = os.Stat(s.path + "-wal") // nil without one
	s.writer = w
	return nil
}

// prepared returns errPrepare if the file must be prepared.
func (s *Store) prepared(ctx context.Context, conn *sql.Conn) error {
	have, err := format(ctx, conn)
	if err != nil {
		return err
	}
	journal, err := journalMode(ctx, conn)
	if err == nil && (have == 0 || journal != s.wantJournal()) {
		err = errPrepare
	}
	return err
}

// cmpErr returns err alone if closing worked, so that errors can be compared.
func cmpErr(err, closing error) error {
	if closing == nil {
		return err
	}
	return errors.Join(err, closing)
}

// close closes the statements first: SQLite keeps a connection with open
// statements and its locks, and then does not checkpoint when the last connection
// closes.
func (w *writer) close() error {
	var err error
	for _, stmt := range w.statements {
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

// A statement is a prepared statement of the driver: database/sql would cost as much as
// executing it.
type statement struct {
	driver.Stmt
	driver.StmtExecContext
	args []driver.NamedValue
}

// exec executes a statement that it keeps. Args are values of the driver.
func (w *writer) exec(text string, args ...any) (driver.Result, error) {
	stmt := w.statements[text]
	if stmt == nil {
		stmt = new(statement)
		err := w.conn.Raw(func(c any) (err error) {
			if stmt.Stmt, err = c.(driver.ConnPrepareContext).PrepareContext(context.Background(), text); err == nil {
				stmt.StmtExecContext = stmt.Stmt.(driver.StmtExecContext)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		w.statements[text] = stmt
	}
	stmt.args = stmt.args[:0]
	for i, v := range args {
		stmt.args = append(stmt.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	defer clear(stmt.args) // do not keep texts in memory
	return stmt.ExecContext(context.Background(), stmt.args)
}

// usable returns an error if the store is closed or ctx is done.
func (s *Store) usable(ctx context.Context) error {
	select {
	case <-s.closed:
		return sqlstore.ErrClosed
	default:
		return ctx.Err()
	}
}

// acquire makes the caller the only goroutine that uses the writer, until release.
func (s *Store) acquire(ctx context.Context) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-s.closed:
		return sqlstore.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) release() { <-s.writing }

// unlock releases the file lock.
func (s *Store) unlock(ctx context.Context) {
	if err := s.lock.release(); err != nil {
		s.log.WarnContext(ctx, "releasing the file lock", "store", s.path, "error", err)
	}
}

// withWriter calls do with the writer while holding the file lock. ctx cancels only
// the wait for the lock.
func (s *Store) withWriter(ctx context.Context, do func(*writer) error) error {
	if s.readOnly {
		return sequent.Errorf(sequent.CodeReadOnly, "", "make the file and its directory writable and restart, or use another file",
			"the store is read-only; nothing was stored")
	}
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	if err := s.lock.acquire(ctx, s.busyTimeout); err != nil {
		return err
	}
	defer s.unlock(ctx)
	replaced, err := s.isReplaced()
	if replaced {
		err = s.follow(ctx)
	}
	if err != nil {
		return err
	}
	if s.writer == nil {
		if err := s.openWriter(ctx, true); err != nil {
			return err
		}
	}
	w := s.writer
	err = do(w)
	if w.failed {
		err = cmpErr(err, s.dropWriter())
	}
	return err
}

// transact calls do in a transaction. It commits if do returns nil and rolls back otherwise.
// After an error nothing was stored, unless it is a commitError.
func (s *Store) transact(ctx context.Context, do func(*writer) error) error {
	return s.withWriter(ctx, func(w *writer) (err error) {
		if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
			w.failed = true
			return err
		}
		open := true
		defer func() {
			if !open {
				return
			}
			clear(w.cache)
			// After some errors SQLite has rolled back already, and ROLLBACK fails.
			_, rollbackErr := w.exec("ROLLBACK")
			_, refused := errors.AsType[*sequent.Error](err)
			w.failed = !refused || rollbackErr != nil
		}()
		if err := do(w); err != nil {
			return err
		}
		if _, err := w.exec("COMMIT"); err != nil {
			return commitError{err}
		}
		open = false
		return nil
	})
}

// write calls do in a transaction and reports what it changed.
func (s *Store) write(ctx context.Context, do func(sqlstore.Tx) ([]sequent.Topic, error)) error {
	var topics []sequent.Topic
	err := s.transact(ctx, func(w *writer) (err error) {
		topics, err = do(w.conn)
		clear(w.cache)
		return err
	})
	if err == nil {
		s.feed.Touched(topics...)
	}
	return s.wrap(err)
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/fairlock"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// A writer is the connection that writes.
type writer struct {
	db         *sql.DB
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	failed     bool // SQLite failed: replace the connection

	cache   map[sequent.Key]sqlstore.Row // sessions as this writer has written or read them last, at most maxCached
	waiting int                          // thoughts that may have to be indexed
	words   []byte                       // of a thought that is indexed
}

const maxCached = 4000

// openWriter opens s.writer, and creates the tables in an empty file. The caller holds s.writing
// and the file lock.
func (s *Store) openWriter(ctx context.Context) (err error) {
	synchronous := "synchronous(FULL)" // the default differs between drivers
	if s.sync == Normal {
		synchronous = "synchronous(NORMAL)"
	}
	w := &writer{statements: make(map[string]*sql.Stmt), cache: make(map[sequent.Key]sqlstore.Row), waiting: indexAt}
	w.db, err = sql.Open("sqlite", s.dsn(true,
		synchronous, "secure_delete(1)",
		"fullfsync(1)", "checkpoint_fullfsync(1)", // macOS: flush the drive's cache
		"wal_autocheckpoint(4000)", "journal_size_limit(67108864)",
	))
	if err != nil {
		return err
	}
	if w.conn, err = w.db.Conn(ctx); err == nil {
		err = s.prepare(ctx, w.conn)
	}
	if err != nil {
		return errors.Join(err, w.close())
	}
	s.writer = w
	s.file.log, _ = os.Stat(s.path + "-wal")
	return nil
}

// prepare sets the journal mode, and creates the tables in an empty file.
func (s *Store) prepare(ctx context.Context, conn *sql.Conn) error {
	have, err := format(ctx, conn) // before a file that is refused is changed
	if err != nil {
		return err
	}
	journal := "wal"
	if remote(filepath.Dir(s.path)) { // where processes that share a log do not share memory
		journal = "delete"
		s.log.WarnContext(ctx, "the store is on a network file system, which is slow; prefer a local disk", "store", s.path)
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode="+journal).Scan(&mode); err != nil {
		return err
	}
	if mode != journal {
		return fmt.Errorf("changing the journal mode to %q failed, it is %q", journal, mode)
	}
	if have == 0 { // closing the connection rolls back
		_, err = conn.ExecContext(ctx, fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version=%d; PRAGMA application_id=%d; COMMIT",
			schema, latest, applicationID))
	}
	return err
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

// exec executes a statement that it keeps.
func (w *writer) exec(text string, args ...any) (sql.Result, error) {
	stmt := w.statements[text]
	if stmt == nil {
		var err error
		if stmt, err = w.conn.PrepareContext(context.Background(), text); err != nil {
			return nil, err
		}
		w.statements[text] = stmt
	}
	return stmt.Exec(args...)
}

// acquire makes the caller the only goroutine that uses the writer, until it receives from
// s.writing.
func (s *Store) acquire(ctx context.Context) error {
	select {
	case <-s.closed:
		return sqlstore.ErrClosed
	default:
	}
	if err := ctx.Err(); err != nil {
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

// withWriter calls do with the writer while holding the file lock. ctx cancels only
// the wait for the lock.
func (s *Store) withWriter(ctx context.Context, do func(*writer) error) error {
	if s.readOnly {
		return failed(sqlite3.SQLITE_READONLY, nil)
	}
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-s.writing }()
	return s.locked(ctx, func() (err error) {
		replaced, err := s.isReplaced()
		if replaced {
			err = s.follow(ctx)
		}
		if err == nil && s.writer == nil {
			err = s.openWriter(ctx)
		}
		if err != nil {
			return err
		}
		w := s.writer
		defer func() {
			if w.failed { // closing it rolls back
				err = errors.Join(err, s.dropWriter())
			}
		}()
		return do(w)
	})
}

// locked calls do while holding the file lock.
func (s *Store) locked(ctx context.Context, do func() error) error {
	if s.lock == nil {
		s.lock = fairlock.New(s.path+".lock", os.O_CREATE|os.O_RDWR)
	}
	if err := s.lock.Acquire(ctx, s.busyTimeout); err != nil {
		return err
	}
	defer func() {
		if err := s.lock.Release(); err != nil {
			s.log.WarnContext(ctx, "releasing the file lock", "store", s.path, "error", err)
		}
	}()
	return do()
}

// transact calls do in a transaction. It commits if do returns nil and rolls back otherwise.
// After an error nothing was stored, unless it is uncertain.
func (s *Store) transact(ctx context.Context, do func(*writer) error) error {
	return s.withWriter(ctx, func(w *writer) (err error) {
		if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
			w.failed = true
			return err
		}
		w.failed = true // until the transaction has ended; do may panic
		if err := do(w); err != nil {
			clear(w.cache)
			if _, ours := errors.AsType[*sequent.Error](err); ours {
				_, failed := w.exec("ROLLBACK")
				w.failed = failed != nil
			}
			return err
		}
		if _, err := w.exec("COMMIT"); err != nil {
			return s.uncertain(err)
		}
		w.failed = false
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

// Package sqlite stores sessions in a SQLite file, which several processes may
// share.
//
// When [Store.Commit] returns, the commit is in the file and survives a crash of
// the process; with [Full], the default, also a loss of power. Next to the file
// are SQLite's -wal and -shm files, and a .lock file that gives processes fair access.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// A Sync is the durability of commits: what a commit survives.
type Sync int

// The values of Sync.
const (
	Full   Sync = iota // a loss of power
	Normal             // a crash of the process; a loss of power may undo the latest commits
)

// A Config configures a [Store].
type Config struct {
	Path        string        // database file; required. Missing directories are created.
	Sync        Sync          // zero means Full
	ReadOnly    bool          // do not write, and do not create the file
	BusyTimeout time.Duration // maximum wait for other writers; 0 means 10 s
	Logger      *slog.Logger  // nil means slog.Default()
}

// A Store is a [sequent.Store] in a SQLite file. Use [Open].
type Store struct {
	sqlstore.Store
	db *sqlstore.Database

	path        string // absolute, without symbolic links
	sync        Sync
	busyTimeout time.Duration
	log         *slog.Logger
	readOnly    bool   // by configuration, or because the file or directory is not writable
	immutable   bool   // read without locks, because no process can change the file
	journal     string // wal or delete; empty if not known yet

	opened  sync.RWMutex // held while readers and file are used or, by replaced, set
	readers *sql.DB
	file    os.FileInfo // the file at path when writer was opened; nil if the store is read-only

	writing chan struct{} // capacity one; holds a token while a goroutine uses the fields below
	lock    *fileLock
	writer  *writer // nil after a failure, until the next write

	feed   sequent.Feed
	poller poller

	closing sync.Once
	closed  chan struct{}
}

// Open opens the store at cfg.Path and creates it if it does not exist. Several
// processes may do so at the same time.
//
// It refuses a file of another format without changing it. If the file or its directory is
// not writable, the store opens read-only where SQLite can do that, and refuses writes with
// [sequent.CodeReadOnly].
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := newStore(cfg)
	err := s.open(ctx, cfg.Path)
	if err != nil {
		return nil, errors.Join(s.wrap(err), s.closeFiles())
	}
	return s, nil
}

func newStore(cfg Config) *Store {
	s := &Store{
		sync:        cfg.Sync,
		busyTimeout: cmp.Or(cfg.BusyTimeout, 10*time.Second),
		log:         cfg.Logger,
		readOnly:    cfg.ReadOnly,
		writing:     make(chan struct{}, 1),
		closed:      make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.db = &sqlstore.Database{Read: s.read, Write: s.write, Sources: sources, Erase: eraseWords, Hint: hint}
	s.Store = sqlstore.New(s.db)
	return s
}

func (s *Store) open(ctx context.Context, path string) error {
	var err error
	if s.path, err = s.locate(path); err != nil {
		return err
	}
	s.lock = newFileLock(s.path + ".lock")
	if !s.readOnly {
		if err := s.openFirst(ctx); err == nil {
			s.file = s.writer.file
			return s.openReaders(ctx)
		} else if !s.canRead(err) {
			return err
		} else {
			s.readOnly = true
			s.log.WarnContext(ctx, "the store is read-only", "store", s.path, "error", err)
		}
	}
	s.immutable = needsImmutable(s.path)
	return s.unreadable(s.openReaders(ctx))
}

// openFirst opens the writer, and creates the file before if necessary.
func (s *Store) openFirst(ctx context.Context) error {
	if info, err := os.Stat(s.path); err == nil && info.Size() > 0 {
		if err := s.refuse(ctx); err != nil {
			return err
		}
		if err := s.openWriter(ctx, false); err != errPrepare {
			return err
		}
	}
	if err := s.lock.acquire(ctx, s.busyTimeout); err != nil {
		return err
	}
	defer s.unlock(ctx)
	if err := create(s.path); err != nil {
		return err
	}
	return s.openWriter(ctx, true)
}

// openReaders opens the connections for reading.
func (s *Store) openReaders(ctx context.Context) (err error) {
	if s.readers, err = sql.Open("sqlite", s.dsn("query_only(1)")); err != nil {
		return err
	}
	s.readers.SetMaxOpenConns(4)
	s.readers.SetMaxIdleConns(4)
	s.readers.SetConnMaxIdleTime(5 * time.Minute)
	if !s.readOnly {
		return nil
	}
	have, err := format(ctx, s.readers)
	if err == nil && have == 0 {
		err = sequent.Errorf(sequent.CodeUnavailable, "", "name another file",
			"the file %s is empty and no store", s.path)
	}
	return err
}

// canRead reports whether err, from opening the store for writing, only means that
// write permission is missing.
func (s *Store) canRead(err error) bool {
	if _, missing := os.Stat(s.path); missing != nil {
		return false
	}
	switch sequent.CodeOf(wrap(err)) {
	case sequent.CodeReadOnly:
		return true
	case sequent.CodeUnavailable: // SQLite does not always report the cause
		return !writableDir(filepath.Dir(s.path)) || !writable(s.path)
	}
	return false
}

// unreadable replaces an error of reading a file that SQLite can only recover in a
// writable directory by one that says so.
func (s *Store) unreadable(err error) error {
	if _, ours := errors.AsType[*sequent.Error](err); ours || sequent.CodeOf(wrap(err)) != sequent.CodeUnavailable || writableDir(filepath.Dir(s.path)) {
		return err
	}
	if _, missing := os.Stat(s.path + "-wal"); missing != nil {
		return err
	}
	return &sequent.Error{
		Code: sequent.CodeReadOnly,
		Msg:  "the store was not closed properly and cannot be recovered in a read-only directory",
		Fix:  "copy the file and its -wal to a writable directory and open it there",
		Err:  err,
	}
}

// read calls do in a transaction that only reads.
func (s *Store) read(ctx context.Context, do func(sqlstore.Tx) error) error {
	if replaced, err := s.isReplaced(); replaced && err == nil {
		if err := s.withWriter(ctx, func(*writer) error { return nil }); err != nil {
			return s.wrap(err)
		}
	}
	s.opened.RLock()
	defer s.opened.RUnlock()
	tx, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	return s.wrap(do(tx))
}

// isReplaced reports whether there is another file at s.path than the open one, whose commits
// other processes would not see. The error says that no file is at s.path: what is committed would be
// lost when the process exits.
func (s *Store) isReplaced() (bool, error) {
	s.opened.RLock()
	defer s.opened.RUnlock()
	if s.file == nil {
		return false, nil
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return false, &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the store's file was removed while it was in use; nothing was stored",
			Fix: "put the file back, or restart the program to begin with an empty store", Err: err,
		}
	}
	return !os.SameFile(info, s.file), nil
}

// follow opens the file that has replaced the open one, such as a backup. The caller holds
// s.writing and the file lock.
func (s *Store) follow(ctx context.Context) error {
	if was := s.writer; was != nil {
		_, err := was.conn.ExecContext(ctx, "PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE)") // the old file may be kept
		if err := errors.Join(err, s.dropWriter()); err != nil {
			s.log.WarnContext(ctx, "closing the file that was replaced", "store", s.path, "error", err)
		}
		// If only the file was replaced, the log beside it is that of the old one.
		if log, err := os.Stat(s.path + "-wal"); err == nil && was.log != nil && os.SameFile(log, was.log) && os.SameFile(was.file, s.file) {
			if err := errors.Join(os.Remove(s.path+"-wal"), os.Remove(s.path+"-shm")); err != nil {
				return err
			}
		}
	}
	if err := s.refuse(ctx); err != nil {
		return err
	}
	if err := s.openWriter(ctx, true); err != nil {
		return err
	}
	s.opened.Lock()
	defer s.opened.Unlock()
	was := s.readers
	if err := s.openReaders(ctx); err != nil {
		s.readers = was
		return err
	}
	s.file = s.writer.file
	s.log.WarnContext(ctx, "the store's file was replaced and is opened again; what it lacks is gone", "store", s.path)
	s.feed.Lost()
	return was.Close()
}

// Close implements [sequent.Store]. It waits for commits in progress; watches end
// with an error.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		s.poller.mu.Lock() // no poller starts from now on
		close(s.closed)
		s.poller.mu.Unlock()
		s.feed.Close(sqlstore.ErrClosed)
		s.poller.done.Wait()
		s.writing <- struct{}{} // never released
		err = s.closeFiles()
	})
	return wrap(err)
}

// closeFiles closes what open has opened.
func (s *Store) closeFiles() error {
	var err error
	if s.readers != nil {
		err = s.readers.Close()
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.free.close())
	}
	return errors.Join(err, s.dropWriter())
}

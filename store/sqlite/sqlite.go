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
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/fairlock"
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
	readOnly    bool
	immutable   bool // read without locks, because no process can change the file

	opened sync.RWMutex // held while file is used or, by follow, set
	file   *file

	writing chan struct{} // capacity one; holds a token while a goroutine uses the fields below
	lock    *fairlock.Lock
	writer  *writer // nil before the first write and after a failure
	seen    version

	feed    sequent.Feed
	polling sync.Once
	poller  sync.WaitGroup
	closing sync.Once
	closed  chan struct{}
}

// Open opens the store at cfg.Path and creates it if it does not exist. Several
// processes may do so at the same time.
//
// It refuses a file of another format without changing it. A store whose file or directory is
// not writable can be read where SQLite can do that, and refuses writes with
// [sequent.CodeReadOnly].
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := newStore(cfg)
	if err := s.open(ctx, cfg.Path); err != nil {
		return nil, errors.Join(s.wrap(err), s.closeFiles())
	}
	return s, nil
}

func newStore(cfg Config) *Store {
	s := &Store{
		sync:        cfg.Sync,
		busyTimeout: cmp.Or(cfg.BusyTimeout, 10*time.Second),
		log:         cmp.Or(cfg.Logger, slog.Default()),
		readOnly:    cfg.ReadOnly,
		writing:     make(chan struct{}, 1),
		closed:      make(chan struct{}),
	}
	s.db = &sqlstore.Database{Read: s.read, Write: s.write, Sources: sources, Erase: eraseWords, Hint: hint}
	s.Store = sqlstore.New(s.db)
	return s
}

func (s *Store) open(ctx context.Context, path string) error {
	if err := s.locate(path); err != nil {
		return err
	}
	if err := s.createFile(); err != nil {
		return err
	}
	f, have, err := s.openFile(ctx)
	s.file = f
	switch {
	case err != nil || have != 0:
		return err
	case s.readOnly:
		return sequent.Errorf(sequent.CodeUnavailable, "", "name another file", "the file %s is empty and no store", s.path)
	}
	return s.withWriter(ctx, func(*writer) error { return nil }) // it creates the tables
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
	tx, err := s.file.readers.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	return s.wrap(do(tx))
}

// Check returns an error unless the file exists, can be read and has this program's format.
func (s *Store) Check(ctx context.Context) error {
	if _, err := s.isReplaced(); err != nil {
		return err
	}
	return s.read(ctx, func(tx sqlstore.Tx) error {
		_, err := format(ctx, tx)
		return err
	})
}

// Size returns the size in bytes of the store's file and its write-ahead log.
func (s *Store) Size() (n int64) {
	for _, name := range []string{s.path, s.path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			n += info.Size()
		}
	}
	return n
}

// Close implements [sequent.Store]. It waits for commits in progress; watches end
// with an error.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.closed)
		s.feed.Close(sqlstore.ErrClosed)
		s.writing <- struct{}{} // never released
		s.poller.Wait()
		err = s.closeFiles()
	})
	return failure(err)
}

// closeFiles closes what was opened, the writer last: then SQLite moves the log into the file.
func (s *Store) closeFiles() error {
	var err error
	if s.file != nil {
		err = s.file.close()
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return errors.Join(err, s.dropWriter())
}

// Package sqlite stores sessions in a SQLite file, which several processes may
// share.
//
// When [Store.Commit] returns, the commit is in the file and survives a crash of
// the process; with [Full], the default, also a loss of power. Next to the file
// are SQLite's -wal and -shm files, a .lock file that gives processes fair access,
// and a search index, which may be deleted at any time.
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
	"sync"
	"sync/atomic"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
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
	path        string // absolute, without symbolic links
	sync        Sync
	busyTimeout time.Duration
	log         *slog.Logger
	readOnly    bool   // by configuration, or because the file or directory is not writable
	journal     string // wal or delete; empty if not known yet

	immutable bool // read without locks, because no process can change the file

	readers *sql.DB
	loading struct { // on readers
		header, entries *sql.Stmt
		thoughts        thoughtReader
	}
	index *index // nil if it could not be opened

	writing chan struct{} // capacity one; holds a token while a goroutine uses the fields below
	lock    *fileLock
	writer  *writer     // nil after a failure, until the next write
	file    os.FileInfo // the file at path when writer was opened first

	residue atomic.Bool // text of deleted sessions may be left in the files

	feed   sequent.Feed // reports commits
	poller poller       // reports those of others to feed

	closing sync.Once
	closed  chan struct{}
}

// Open opens the store at cfg.Path and creates it if it does not exist. Several
// processes may do so at the same time.
//
// It migrates a file of an older format, and refuses one of a newer format
// without changing it. If the file or its directory is not writable, the store
// opens read-only where SQLite can do that, and refuses writes with
// [sequent.CodeReadOnly].
func Open(ctx context.Context, cfg Config) (*Store, error) {
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
	if err := s.open(ctx, cfg.Path); err != nil {
		if err := s.closeFiles(); err != nil {
			s.log.WarnContext(ctx, "closing a store that failed to open", "store", s.path, "error", err)
		}
		return nil, s.wrap(err)
	}
	x, err := newIndex(ctx, s)
	if err != nil {
		s.log.WarnContext(ctx, "opening the search index; searches will read the store instead", "store", s.path, "error", err)
		return s, nil
	}
	s.index = x
	x.start(ctx)
	return s, nil
}

func (s *Store) open(ctx context.Context, path string) error {
	if err := checkVersion(); err != nil {
		return err
	}
	var err error
	if s.path, err = s.locate(path); err != nil {
		return err
	}
	s.lock = newFileLock(s.path + ".lock")
	s.poller.store = s
	s.residue.Store(true) // a process may have been killed after a deletion
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return s.openReaders(ctx)
}

// prepare creates or migrates the file as needed and opens the writer. If that
// fails for lack of write permission, it sets s.readOnly.
func (s *Store) prepare(ctx context.Context) error {
	if !s.readOnly {
		err := s.prepareWriter(ctx)
		if err == nil || !s.canRead(err) {
			return err
		}
		s.readOnly = true
		s.log.WarnContext(ctx, "the store is read-only", "store", s.path, "error", err)
		if err := s.dropWriter(); err != nil {
			return err
		}
	}
	db, err := s.connect(ctx)
	if err != nil {
		return s.unreadable(err)
	}
	defer db.Close()
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return s.unreadable(err)
	}
	if version < latest {
		return &sequent.Error{
			Code: sequent.CodeReadOnly,
			Msg:  fmt.Sprintf("the store has format %d and cannot be migrated to format %d because it is read-only", version, latest),
			Fix:  "open it once with write access, or open a copy of it",
		}
	}
	return nil
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
	if _, ours := errors.AsType[*sequent.Error](err); ours {
		return err
	}
	if sequent.CodeOf(wrap(err)) != sequent.CodeUnavailable || writableDir(filepath.Dir(s.path)) {
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

// prepareWriter opens the writer. Before that it creates or migrates the file if
// necessary, under the file lock.
func (s *Store) prepareWriter(ctx context.Context) error {
	if opened, err := s.openCurrent(ctx); opened || err != nil {
		return err
	}
	if err := s.lock.acquire(ctx, s.busyTimeout); err != nil {
		return err
	}
	defer s.lock.release()
	if err := create(s.path); err != nil {
		return err
	}
	db, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := migrate(ctx, db, s.wantJournal()); err != nil {
		return err
	}
	return s.openWriter(ctx)
}

// openCurrent opens the writer if the file exists and has the latest format and
// the wanted journal, and reports whether it did.
func (s *Store) openCurrent(ctx context.Context) (opened bool, err error) {
	if info, err := os.Stat(s.path); err != nil || info.Size() == 0 {
		return false, nil // prepareWriter creates the file or returns the error
	}
	db, err := s.connect(ctx)
	if err != nil {
		return false, err
	}
	defer db.Close()
	version, err := schemaVersion(ctx, db)
	if err != nil || version < latest {
		return false, err
	}
	journal, err := journalMode(ctx, db)
	if err != nil || journal != s.wantJournal() {
		return false, err
	}
	return true, s.openWriter(ctx)
}

// Close implements [sequent.Store]. It waits for commits in progress; watches end
// with an error.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.closed)
		s.feed.Close(record.ErrClosed)
		if s.index != nil {
			err = s.index.close()
		}
		s.writing <- struct{}{} // never released
		err = errors.Join(err, s.closeFiles())
	})
	return wrap(err)
}

// closeFiles closes what open has opened.
func (s *Store) closeFiles() error {
	s.poller.close()
	var err error
	if s.readers != nil {
		err = s.readers.Close()
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.close())
	}
	return errors.Join(err, s.dropWriter())
}

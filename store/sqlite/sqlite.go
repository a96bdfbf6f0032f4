// Package sqlite keeps sessions in one SQLite file, which several processes
// may share.
//
// A commit is in the file when [Store.Commit] returns, and survives the death
// of the process; with [Full], the default, also a loss of power. Beside the
// file lie SQLite's own -wal and -shm, a .lock file that keeps processes from
// starving each other, and an index for searching that may be deleted at any
// time.
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
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/wake"
)

// Sync says what a commit survives.
type Sync int

// The values of Sync.
const (
	Full   Sync = iota // a loss of power
	Normal             // the death of the process; a loss of power may cost the latest commits
)

// A Config says where the store is and how it behaves.
type Config struct {
	Path     string        // of the database file; required. Missing directories are made.
	Sync     Sync          // zero means Full
	ReadOnly bool          // never write, and do not make the file
	Patience time.Duration // how long to wait for others who write; 0 means 10 s
	Logger   *slog.Logger  // nil means slog.Default()
}

// A Store is a [sequent.Store] in a SQLite file. Use [Open].
type Store struct {
	path     string // absolute, without symbolic links
	sync     Sync
	patience time.Duration
	log      *slog.Logger
	readOnly bool   // the file or its directory cannot be written, or must not be
	journal  string // wal or delete; empty if it is not known

	immutable bool // nobody can change the file, so SQLite need not look out for that

	readers *sql.DB
	loading struct{ header, thoughts, position *sql.Stmt } // on readers
	index   *index                                         // nil if it could not be opened

	turn   chan struct{} // holds a token while somebody uses what follows
	lock   *fileLock
	writer *writer     // nil after a failure, until the next write
	file   os.FileInfo // what path was when writer was opened

	hub    wake.Hub[sequent.Key] // the zero Key is woken by every commit here
	others watch                 // for commits elsewhere

	closing sync.Once
	closed  chan struct{}
}

// Open opens the store at cfg.Path and makes it if there is none.
//
// Many processes may do so at the same instant. A file of an older version is
// brought up to date; one of a newer version is refused and not touched. Where
// nothing can be written, the store opens for reading if SQLite can read it,
// and every write is refused with [sequent.CodeReadOnly].
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := &Store{
		sync:     cfg.Sync,
		patience: cmp.Or(cfg.Patience, 10*time.Second),
		log:      cfg.Logger,
		readOnly: cfg.ReadOnly,
		turn:     make(chan struct{}, 1),
		closed:   make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if err := s.open(ctx, cfg.Path); err != nil {
		if err := s.shut(); err != nil {
			s.log.WarnContext(ctx, "a store that did not open did not close either", "store", s.path, "error", err)
		}
		return nil, s.wrap(err)
	}
	var err error
	if s.index, err = openIndex(ctx, s); err != nil {
		s.log.WarnContext(ctx, "the search index cannot be used", "store", s.path, "error", err)
	}
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
	s.others.store = s
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return s.openReaders(ctx)
}

// prepare makes the file ready for readers: there, of this version, and with
// the right journal. It finds out whether the store can be written.
func (s *Store) prepare(ctx context.Context) error {
	if !s.readOnly {
		err := s.prepareWriting(ctx)
		if err == nil || !s.mayRead(err) {
			return err
		}
		s.readOnly = true
		s.log.WarnContext(ctx, "the store can only be read", "store", s.path, "error", err)
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
			Msg:  fmt.Sprintf("the store has the older format %d and cannot be brought to %d, because it can only be read", version, latest),
			Fix:  "open it once where it can be written, or copy it to such a place",
		}
	}
	return nil
}

// mayRead reports whether a store that cannot be opened for writing may still
// be opened for reading: it is there, and only the right to write is missing.
func (s *Store) mayRead(err error) bool {
	if _, missing := os.Stat(s.path); missing != nil {
		return false
	}
	switch sequent.CodeOf(wrap(err)) {
	case sequent.CodeReadOnly:
		return true
	case sequent.CodeUnavailable: // SQLite does not always see why
		return !writableDir(filepath.Dir(s.path)) || !writable(s.path)
	}
	return false
}

// unreadable explains why a file in a place that cannot be written cannot be
// read there either.
func (s *Store) unreadable(err error) error {
	if _, ours := errors.AsType[*sequent.Error](err); ours {
		return err // it has been explained
	}
	if sequent.CodeOf(wrap(err)) != sequent.CodeUnavailable || writableDir(filepath.Dir(s.path)) {
		return err
	}
	if _, missing := os.Stat(s.path + "-wal"); missing != nil {
		return err
	}
	return &sequent.Error{
		Code: sequent.CodeReadOnly,
		Msg:  "the store was not closed properly and lies where nothing can be written, so it cannot be brought in order",
		Fix:  "copy the file and its -wal to a place that can be written, and open it there",
		Err:  err,
	}
}

// prepareWriting opens the writer, and makes or migrates the file if need be.
// All but the making of a connection is done under the file lock, since many
// processes may be at it.
func (s *Store) prepareWriting(ctx context.Context) error {
	if ready, err := s.ready(ctx); ready || err != nil {
		return err
	}
	if err := s.lock.acquire(ctx, s.patience); err != nil {
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

// ready opens the writer of a file that needs no work, and reports whether it
// is one.
func (s *Store) ready(ctx context.Context) (bool, error) {
	if info, err := os.Stat(s.path); err != nil || info.Size() == 0 {
		return false, nil // the careful way tells what is wrong
	}
	db, err := s.connect(ctx)
	if err != nil {
		return false, err
	}
	defer db.Close()
	version, err := schemaVersion(ctx, db)
	if err != nil || version != latest {
		return false, err
	}
	journal, err := journalMode(ctx, db)
	if err != nil || journal != s.wantJournal() {
		return false, err
	}
	return true, s.openWriter(ctx)
}

// Close implements [sequent.Store]. Commits under way finish; those who Wait
// are told that the store is closed.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.closed)
		if s.index != nil {
			err = s.index.close()
		}
		s.turn <- struct{}{} // and never given back
		err = errors.Join(err, s.shut())
	})
	return wrap(err)
}

// shut closes what open has opened.
func (s *Store) shut() error {
	s.others.end()
	var err error
	if s.readers != nil {
		err = s.readers.Close()
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.close())
	}
	return errors.Join(err, s.dropWriter())
}

package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// A BackupConfig configures [Backup] and [Restore].
type BackupConfig struct {
	From  string // file of a store; required
	To    string // file to write; required
	Force bool   // replace an existing file (Backup), or a store that has sessions (Restore)
	// Progress is called from another goroutine about every 100 ms with the number
	// of bytes written and the expected total; nil for none.
	Progress func(done, total int64)
}

// A Copied describes a file that Backup or Restore has written.
type Copied struct {
	Path     string `json:"file"` // absolute
	Bytes    int64  `json:"bytes"`
	Sessions int    `json:"sessions"`
	Thoughts int    `json:"thoughts"`
}

// Backup writes a consistent copy of the store at cfg.From to cfg.To, also while
// other processes write to the store. The copy is a store with mode 0600, without
// unused space, and can be put in place of the store by copying the file. It is
// checked before it replaces a file at cfg.To. Missing directories are created
// with mode 0700.
func Backup(ctx context.Context, cfg BackupConfig) (Copied, error) {
	to, err := filepath.Abs(cfg.To)
	if err != nil {
		return Copied{}, wrap(err)
	}
	switch info, err := os.Stat(to); {
	case err == nil && sameFile(cfg.From, info):
		return Copied{}, sequent.Errorf(sequent.CodeReadOnly, "", "name another file",
			"the backup would replace the store itself; nothing was written")
	case err == nil && !info.Mode().IsRegular():
		return Copied{}, sequent.Errorf(sequent.CodeReadOnly, "", "name a file",
			"%s is not a regular file; nothing was written", to)
	case err == nil && !cfg.Force:
		return Copied{}, sequent.Errorf(sequent.CodeReadOnly, "", "name another file, or pass --force to replace it",
			"%s exists already; nothing was written", to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return Copied{}, wrap(err)
	}
	copied, temp, err := snapshot(ctx, cfg, to)
	if err == nil {
		err = replace(temp, to)
	}
	if err != nil {
		return Copied{}, errors.Join(wrap(err), discard(temp))
	}
	copied.Path = to
	return copied, nil
}

// Restore replaces the store at cfg.To by the one at cfg.From, which it does not
// change. No other process may have the store at cfg.To open. It creates that store
// if it does not exist.
func Restore(ctx context.Context, cfg BackupConfig) (Copied, error) {
	target := newStore(Config{BusyTimeout: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	var err error
	if target.path, err = target.locate(cfg.To); err != nil {
		return Copied{}, wrap(err)
	}
	if info, err := os.Stat(target.path); err == nil && sameFile(cfg.From, info) {
		return Copied{}, sequent.Errorf(sequent.CodeReadOnly, "", "name the file of a backup",
			"the backup and the store are the same file; nothing was restored")
	}
	copied, temp, err := snapshot(ctx, cfg, target.path)
	if err != nil {
		return Copied{}, errors.Join(ofBackup(cfg.From, wrap(err)), discard(temp))
	}
	if err := target.replaceBy(ctx, temp, cfg.Force); err != nil {
		return Copied{}, errors.Join(target.wrap(err), discard(temp))
	}
	copied.Path = target.path
	return copied, nil
}

// snapshot writes a copy of the store at cfg.From to a new file beside the file to, and checks
// it. The caller renames or discards the file, if its name is not empty.
func snapshot(ctx context.Context, cfg BackupConfig, to string) (c Copied, temp string, err error) {
	source := newStore(Config{ReadOnly: true})
	if source.path, err = source.locate(cfg.From); err != nil {
		return c, "", err
	}
	db, err := source.connect(ctx)
	if err != nil {
		return c, "", err
	}
	defer db.Close()
	have, err := format(ctx, db)
	if err == nil && have == 0 {
		err = sequent.Errorf(sequent.CodeUnavailable, "", "name another file",
			"the file %s is empty and no store", source.path)
	}
	var total int64
	if err == nil {
		err = db.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&total)
	}
	if err != nil {
		return c, "", err
	}
	f, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+"-*.tmp") // mode 0600
	if err != nil {
		return c, "", err
	}
	temp = f.Name()
	if err := f.Close(); err != nil {
		return c, temp, err
	}
	if cfg.Progress != nil {
		defer repeat(func() {
			if info, err := os.Stat(temp); err == nil {
				cfg.Progress(info.Size(), total)
			}
		})()
	}
	if _, err = db.ExecContext(ctx, "VACUUM INTO ?", temp); err != nil {
		if ctx.Err() != nil { // SQLite's own error is "interrupted"
			err = ctx.Err()
		}
		return c, temp, err
	}
	c, err = check(ctx, temp)
	return c, temp, err
}

// check checks the copy of a store, which has no text of deleted sessions.
func check(ctx context.Context, path string) (c Copied, err error) {
	s := newStore(Config{})
	s.path = path
	db, err := s.connect(ctx)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "UPDATE tool_state SET deleted = 0"); err != nil {
		return c, err
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return c, err
	}
	if verdict != "ok" {
		return c, &sequent.Error{Code: sequent.CodeCorrupt, Msg: "the copy of the store is damaged", Fix: "run `sequent doctor`", Err: errors.New(verdict)}
	}
	err = db.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(len), 0), page_count * page_size FROM tool_sessions, pragma_page_count, pragma_page_size`).
		Scan(&c.Sessions, &c.Thoughts, &c.Bytes)
	return c, err
}

// ofBackup returns an error of reading a backup as one of that file, and not of a store.
func ofBackup(file string, err error) error {
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok {
		return err
	}
	const fix = "name a file that sequent store backup wrote"
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &sequent.Error{Code: e.Code, Msg: "there is no file " + file + "; nothing was restored", Fix: fix, Err: err}
	case e.Code == sequent.CodeCorrupt:
		return &sequent.Error{Code: e.Code, Msg: "the file " + file + " is damaged, or is no backup; nothing was restored", Fix: fix, Err: e.Err}
	}
	return err
}

// replaceBy replaces the file of s, which is not open, by temp.
func (s *Store) replaceBy(ctx context.Context, temp string, force bool) error {
	s.lock = newFileLock(s.path + ".lock")
	defer s.lock.free.close() //nolint:errcheck // nothing was written
	if err := s.lock.acquire(ctx, s.busyTimeout); err != nil {
		return err
	}
	defer s.unlock(ctx)
	if info, err := os.Stat(s.path); err == nil && info.Size() > 0 {
		sessions, err := s.detach(ctx)
		switch {
		case err != nil && (!force || sequent.CodeOf(wrap(err)) != sequent.CodeCorrupt):
			return err
		case sessions > 0 && !force:
			return sequent.Errorf(sequent.CodeReadOnly, "", "pass --force to replace them, or restore to another file with --store FILE",
				"the store has sessions (%d); nothing was restored", sessions)
		}
	}
	for _, name := range []string{s.path + "-wal", s.path + "-shm", s.path + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return replace(temp, s.path)
}

// detach copies the write-ahead log of the store into its file and removes it, which
// SQLite does only if no other process has the file open. It returns the number of
// sessions.
func (s *Store) detach(ctx context.Context) (sessions int, err error) {
	if err := s.refuse(ctx); err != nil {
		return 0, err
	}
	db, err := s.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	have, err := format(ctx, db)
	if err == nil && have != 0 {
		err = db.QueryRowContext(ctx, "SELECT count(*) FROM tool_sessions").Scan(&sessions)
	}
	if err != nil {
		return 0, err
	}
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode=delete").Scan(&mode)
	if sequent.CodeOf(wrap(err)) == sequent.CodeBusy || err == nil && mode != "delete" {
		err = &sequent.Error{
			Code: sequent.CodeBusy, Msg: "another process has the store open; nothing was restored",
			Fix: "stop all servers and editors that use it, and try again", Err: err,
		}
	}
	return sessions, err
}

// replace renames temp to path, durably.
func replace(temp, path string) error {
	f, err := os.OpenFile(temp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return durable.SyncPath(filepath.Dir(path))
}

// discard removes the file temp and SQLite's files beside it, if its name is not empty.
func discard(temp string) (err error) {
	if temp == "" {
		return nil
	}
	for _, name := range []string{temp, temp + "-wal", temp + "-shm", temp + "-journal"} {
		if e := os.Remove(name); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func sameFile(path string, info os.FileInfo) bool {
	other, err := os.Stat(path)
	return err == nil && os.SameFile(info, other)
}

// Check returns an error unless the file exists, can be read and has this program's format.
func (s *Store) Check(ctx context.Context) error {
	_, err := s.isReplaced()
	if err != nil {
		return err
	}
	return s.read(ctx, func(tx sqlstore.Tx) error {
		_, err := format(ctx, tx)
		return err
	})
}

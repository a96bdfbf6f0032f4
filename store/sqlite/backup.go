package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
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
func Backup(ctx context.Context, cfg BackupConfig) (c Copied, err error) {
	to, err := filepath.Abs(cfg.To)
	if err != nil {
		return c, failure(err)
	}
	switch info, err := os.Stat(to); {
	case err == nil && sameFile(cfg.From, info):
		return c, sequent.Errorf(sequent.CodeReadOnly, "", "name another file", "the backup would replace the store itself; nothing was written")
	case err == nil && !info.Mode().IsRegular():
		return c, sequent.Errorf(sequent.CodeReadOnly, "", "name a file", "%s is not a regular file; nothing was written", to)
	case err == nil && !cfg.Force:
		return c, sequent.Errorf(sequent.CodeReadOnly, "", "name another file, or pass --force to replace it", "%s exists already; nothing was written", to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return c, failure(err)
	}
	c, err = snapshot(ctx, cfg, to, func(temp string) error { return replace(temp, to) })
	return c, failure(err)
}

// Restore replaces the store at cfg.To by the one at cfg.From, which it does not
// change. No other process may have the store at cfg.To open. It creates that store
// if it does not exist.
func Restore(ctx context.Context, cfg BackupConfig) (c Copied, err error) {
	s := newStore(Config{BusyTimeout: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	if err := s.locate(cfg.To); err != nil {
		return c, failure(err)
	}
	if info, err := os.Stat(s.path); err == nil && sameFile(cfg.From, info) {
		return c, sequent.Errorf(sequent.CodeReadOnly, "", "name the file of a backup", "the backup and the store are the same file; nothing was restored")
	}
	copied := false
	c, err = snapshot(ctx, cfg, s.path, func(temp string) error {
		copied = true
		return s.locked(ctx, func() error { return s.replaceBy(ctx, temp, cfg.Force) })
	})
	err = s.wrap(err)
	if e, ok := errors.AsType[*sequent.Error](err); ok && !copied && (e.Code == sequent.CodeCorrupt || errors.Is(err, os.ErrNotExist)) {
		err = &sequent.Error{
			Code: e.Code, Msg: "the file " + cfg.From + " is missing, damaged or no backup; nothing was restored",
			Fix: "name a file that sequent store backup wrote", Err: e.Err,
		}
	}
	return c, errors.Join(err, s.closeFiles())
}

// snapshot writes a copy of the store at cfg.From to a new file beside the file to, checks it, and
// calls use, which renames it.
func snapshot(ctx context.Context, cfg BackupConfig, to string, use func(temp string) error) (c Copied, err error) {
	source := newStore(Config{ReadOnly: true})
	if err = source.locate(cfg.From); err != nil {
		return c, err
	}
	db, have, err := source.inspect(ctx)
	if err != nil {
		return c, err
	}
	defer db.Close()
	if have == 0 {
		return c, sequent.Errorf(sequent.CodeUnavailable, "", "name another file", "the file %s is empty and no store", source.path)
	}
	f, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+"-*.tmp") // mode 0600
	if err != nil {
		return c, err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // use has renamed it, or it is of no use
	if err := f.Close(); err != nil {
		return c, err
	}
	if cfg.Progress != nil {
		total := source.Size()
		defer repeat(func() {
			if info, err := os.Stat(f.Name()); err == nil {
				cfg.Progress(info.Size(), total)
			}
		})()
	}
	if _, err = db.ExecContext(ctx, "VACUUM INTO ?", f.Name()); err == nil {
		c, err = check(ctx, f.Name())
	}
	if err != nil {
		return c, interrupted(ctx, err)
	}
	c.Path = to
	return c, use(f.Name())
}

// check checks the copy of a store, which has no text of deleted sessions.
func check(ctx context.Context, path string) (c Copied, err error) {
	s := newStore(Config{})
	s.path = path
	db, err := sql.Open("sqlite", s.dsn(true))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var verdict string
	err = db.QueryRowContext(ctx, `
		UPDATE tool_state SET deleted = 0;
		SELECT quick_check, (SELECT count(*) FROM tool_sessions), (SELECT coalesce(sum(len), 0) FROM tool_sessions), page_count * page_size
		FROM pragma_quick_check, pragma_page_count, pragma_page_size LIMIT 1`).Scan(&verdict, &c.Sessions, &c.Thoughts, &c.Bytes)
	if err == nil && verdict != "ok" {
		err = failed(sqlite3.SQLITE_CORRUPT, errors.New(verdict))
	}
	return c, err
}

// replaceBy replaces the file of s, which is not open, by temp. The caller holds the file lock.
func (s *Store) replaceBy(ctx context.Context, temp string, force bool) error {
	if info, err := os.Stat(s.path); err == nil && info.Size() > 0 {
		sessions, err := s.detach(ctx)
		switch {
		case err != nil && (!force || sequent.CodeOf(failure(err)) != sequent.CodeCorrupt):
			return err
		case sessions > 0 && !force:
			return sequent.Errorf(sequent.CodeReadOnly, "", "pass --force to replace them, or restore to another file with --store FILE",
				"the store has sessions (%d); nothing was restored", sessions)
		}
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(s.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return replace(temp, s.path)
}

// detach copies the write-ahead log of the store into its file and removes it, which
// SQLite does only if no other process has the file open. It returns the number of
// sessions.
func (s *Store) detach(ctx context.Context) (sessions int, err error) {
	ro, have, err := s.inspect(ctx)
	if err != nil {
		return 0, err
	}
	if have != 0 {
		err = ro.QueryRowContext(ctx, "SELECT count(*) FROM tool_sessions").Scan(&sessions)
	}
	if err := errors.Join(err, ro.Close()); err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", s.dsn(true))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode=delete").Scan(&mode)
	if code := codeOf(err); code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED || err == nil && mode != "delete" {
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

func sameFile(path string, info os.FileInfo) bool {
	other, err := os.Stat(path)
	return err == nil && os.SameFile(info, other)
}

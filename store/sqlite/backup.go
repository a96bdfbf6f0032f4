package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
	"github.com/sequent-dev/sequent/internal/indexfile"
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
		return Copied{}, &sequent.Error{
			Code: sequent.CodeReadOnly, Msg: "the backup would replace the store itself; nothing was written",
			Fix: "name another file",
		}
	case err == nil && !info.Mode().IsRegular():
		return Copied{}, &sequent.Error{
			Code: sequent.CodeReadOnly, Msg: to + " is not a regular file; nothing was written",
			Fix: "name a file",
		}
	case err == nil && !cfg.Force:
		return Copied{}, &sequent.Error{
			Code: sequent.CodeReadOnly, Msg: to + " exists already; nothing was written",
			Fix: "name another file, or pass --force to replace it",
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return Copied{}, wrap(err)
	}
	copied, temp, err := snapshot(ctx, cfg, filepath.Dir(to), filepath.Base(to))
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
// if it does not exist, and brings it to the latest format.
func Restore(ctx context.Context, cfg BackupConfig) (Copied, error) {
	target := &Store{busyTimeout: 2 * time.Second, log: slog.New(slog.DiscardHandler), closed: make(chan struct{})}
	var err error
	if target.path, err = target.locate(cfg.To); err != nil {
		return Copied{}, wrap(err)
	}
	if info, err := os.Stat(target.path); err == nil && sameFile(cfg.From, info) {
		return Copied{}, &sequent.Error{
			Code: sequent.CodeReadOnly, Msg: "the backup and the store are the same file; nothing was restored",
			Fix: "name the file of a backup",
		}
	}
	copied, temp, err := snapshot(ctx, cfg, filepath.Dir(target.path), filepath.Base(target.path))
	if err == nil {
		err = target.replaceBy(ctx, temp, cfg.Force)
	}
	if err != nil {
		return Copied{}, errors.Join(target.wrap(err), discard(temp))
	}
	copied.Path = target.path
	s, err := Open(ctx, Config{Path: target.path, Logger: target.log}) // migrates
	if err != nil {
		return copied, err
	}
	if s.index != nil {
		err = s.index.update(ctx)
		if errors.Is(err, errIndexLocked) {
			err = nil // another process builds it
		}
	}
	return copied, errors.Join(s.wrap(err), s.Close())
}

// snapshot writes a copy of the store at cfg.From to a new file in dir, and checks
// it. The caller renames or discards the file, if its name is not empty.
func snapshot(ctx context.Context, cfg BackupConfig, dir, name string) (c Copied, temp string, err error) {
	if _, err := os.Stat(cfg.From); err != nil {
		return c, "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "there is no store at " + cfg.From, Fix: "check the path", Err: err,
		}
	}
	source := &Store{path: cfg.From, readOnly: true, busyTimeout: 10 * time.Second, closed: make(chan struct{})}
	if source.path, err = source.locate(cfg.From); err != nil {
		return c, "", err
	}
	db, err := source.connect(ctx)
	if err != nil {
		return c, "", err
	}
	defer db.Close()
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return c, "", err
	}
	var pages, size int64
	if err := db.QueryRowContext(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").Scan(&pages, &size); err != nil {
		return c, "", err
	}
	if version == 0 {
		return c, "", &sequent.Error{
			Code: sequent.CodeUnavailable, Msg: "the file " + source.path + " is empty and no store", Fix: "name another file",
		}
	}
	f, err := os.CreateTemp(dir, "."+name+"-*.tmp") // mode 0600
	if err != nil {
		return c, "", err
	}
	temp = f.Name()
	if err := f.Close(); err != nil {
		return c, temp, err
	}
	stop := watchFile(temp, pages*size, cfg.Progress)
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", temp)
	stop()
	if err != nil {
		if ctx.Err() != nil { // SQLite's own error is "interrupted"
			err = ctx.Err()
		}
		return c, temp, err
	}
	c, err = finish(ctx, temp)
	return c, temp, err
}

// finish gives the store at path an identity of its own, so that the search index of
// the original is not taken for its index, checks it and writes it to the disk.
func finish(ctx context.Context, path string) (c Copied, err error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "mode=rw&_pragma=secure_delete(1)&_pragma=synchronous(full)"}
	if !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path // before a drive letter
	}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if version, err := schemaVersion(ctx, db); err != nil {
		return c, err
	} else if version > 1 { // format 1 has no index
		if _, err := db.ExecContext(ctx, "UPDATE identity SET id = lower(hex(randomblob(16)))"); err != nil {
			return c, err
		}
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return c, err
	}
	if verdict != "ok" {
		return c, &sequent.Error{Code: sequent.CodeCorrupt, Msg: "the copy of the store is damaged", Fix: "run `sequent doctor`", Err: errors.New(verdict)}
	}
	err = db.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM tool_sessions), (SELECT count(*) FROM thoughts WHERE session <> 0),
			page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&c.Sessions, &c.Thoughts, &c.Bytes)
	return c, err
}

// replaceBy replaces the file of s, which is not open, by temp.
func (s *Store) replaceBy(ctx context.Context, temp string, force bool) (err error) {
	s.lock = newFileLock(s.path + ".lock")
	if err := s.lock.acquire(ctx, s.busyTimeout); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.lock.release(), s.lock.close()) }()
	if info, statErr := os.Stat(s.path); statErr == nil && info.Size() > 0 {
		sessions, err := s.detach(ctx)
		damaged := sequent.CodeOf(wrap(err)) == sequent.CodeCorrupt
		switch {
		case err != nil && (!damaged || !force):
			return err
		case sessions > 0 && !force:
			return &sequent.Error{
				Code: sequent.CodeReadOnly, Msg: fmt.Sprintf("the store has sessions (%d); nothing was restored", sessions),
				Fix: "pass --force to replace them, or restore to another file with --store FILE",
			}
		}
	}
	index := flock.New(indexPath(s.path)+".lock", flock.SetPermissions(0o600))
	switch held, err := index.TryLock(); {
	case err != nil:
		return err
	case !held:
		return inUse(nil)
	}
	defer index.Unlock() //nolint:errcheck // the kernel releases the lock when the process exits
	for _, name := range []string{s.path + "-wal", s.path + "-shm", s.path + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return cmp.Or(indexfile.Remove(indexPath(s.path)), replace(temp, s.path))
}

// detach copies the write-ahead log of the store into its file and removes it, which
// SQLite does only if no other process has the file open. It returns the number of
// sessions.
func (s *Store) detach(ctx context.Context) (sessions int, err error) {
	db, err := s.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return 0, err
	}
	if version > 0 {
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM tool_sessions").Scan(&sessions); err != nil {
			return 0, err
		}
	}
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode=delete").Scan(&mode)
	if sequent.CodeOf(wrap(err)) == sequent.CodeBusy {
		return 0, inUse(err)
	}
	if err == nil && mode != "delete" {
		err = inUse(nil)
	}
	return sessions, err
}

func inUse(cause error) error {
	return &sequent.Error{
		Code: sequent.CodeBusy, Msg: "another process has the store open; nothing was restored",
		Fix: "stop all servers and editors that use it, and try again", Err: cause,
	}
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

// discard removes the file temp, if its name is not empty.
func discard(temp string) error {
	if temp == "" {
		return nil
	}
	return indexfile.Remove(temp)
}

func sameFile(path string, info os.FileInfo) bool {
	other, err := os.Stat(path)
	return err == nil && os.SameFile(info, other)
}

// watchFile reports the size of a file every 100 ms until stop is called.
func watchFile(path string, total int64, progress func(done, total int64)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	return repeat(func() {
		if info, err := os.Stat(path); err == nil {
			progress(info.Size(), total)
		}
	})
}

// repeat calls do every 100 ms until stop is called.
func repeat(do func()) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				do()
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

package index

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watch keeps the index up to date with the vault until ctx is cancelled. It looks at
// all notes at first, soon after each change that the operating system reports, and every
// Config.Rescan, because not every change is reported. Failures are logged and tried
// again.
func (x *Index) Watch(ctx context.Context) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		x.cfg.Log.WarnContext(ctx, "the vault cannot be watched; changes are found by checking all notes",
			"vault", x.cfg.Vault.Dir(), "error", err)
		system = &fsnotify.Watcher{} // without events
	} else {
		defer func() { _ = system.Close() }() // it only read
	}
	due := time.NewTimer(0)
	defer due.Stop()
	pending := true // due is running. Later changes do not delay it, so a program that never stops writing does not either.
	rescan := time.NewTicker(x.cfg.Rescan)
	defer rescan.Stop()
	for blind := err != nil; ; {
		select {
		case <-ctx.Done():
			return
		case e := <-system.Events:
			if rel, err := filepath.Rel(x.cfg.Vault.Dir(), e.Name); pending || err == nil && hidden(rel) {
				continue
			}
			pending = true
			due.Reset(x.cfg.Debounce)
			continue
		case <-system.Errors: // some changes were not reported
		case <-rescan.C:
		case <-due.C:
			pending = false
		}
		if !blind { // before update, which finds the notes in folders that are new
			if err := follow(system, x.cfg.Vault.Dir()); err != nil {
				blind = true
				x.cfg.Log.WarnContext(ctx, "a folder of the vault cannot be watched; changes in it are found by checking all notes",
					"vault", x.cfg.Vault.Dir(), "error", err)
			}
		}
		if _, err := x.update(ctx, func(Progress) {}, x.cfg.Turn); err != nil && ctx.Err() == nil {
			x.cfg.Log.WarnContext(ctx, "the index of the vault was not brought up to date; the next check tries again",
				"vault", x.cfg.Vault.Dir(), "error", err)
		}
	}
}

// hidden reports whether a part of a path begins with a dot: files of editors, and of the
// index itself.
func hidden(rel string) bool { return strings.Contains("/"+filepath.ToSlash(rel), "/.") }

// follow watches all folders of a vault.
func follow(system *fsnotify.Watcher, dir string) error {
	return filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir(): // update reports what cannot be read
			return nil
		case p != dir && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		}
		return system.Add(p) // does nothing for one that is watched
	})
}

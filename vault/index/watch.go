package index

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// Watch keeps the index up to date with the vault until ctx is cancelled. It begins
// with a Sync, follows the changes that the operating system reports, and looks at
// all notes every Config.Rescan, because not every change is reported. Failures are
// logged and tried again.
func (x *Index) Watch(ctx context.Context) {
	w := &watch{index: x, known: make(map[string]bool), changed: make(map[vault.URI]bool), all: true}
	events, errs := w.open()
	if w.system != nil {
		defer w.system.Close() //nolint:errcheck // it only read
	}
	due := time.NewTimer(0)
	defer due.Stop()
	rescan := time.NewTicker(x.rescan)
	defer rescan.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if w.record(e) {
				due.Reset(w.wait())
			}
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			w.warn(ctx, "some changes of the vault were not reported; all notes are checked", err)
			w.all = true
			due.Reset(w.wait())
		case <-rescan.C:
			w.all = true
			due.Reset(0)
		case <-due.C:
			if err := w.flush(ctx); err != nil && ctx.Err() == nil {
				w.warn(ctx, "the index of the vault was not brought up to date; the next check tries again", err)
				w.all = true
			}
			w.since = time.Time{}
		}
	}
}

// A watch is a running call of Watch.
type watch struct {
	index   *Index
	system  *fsnotify.Watcher // nil if the operating system refuses one
	known   map[string]bool   // folders that are watched
	changed map[vault.URI]bool
	all     bool      // other notes than those in changed may have changed
	since   time.Time // of the first change that is not yet indexed; zero if there is none
	warned  string    // the last warning
}

func (w *watch) open() (<-chan fsnotify.Event, <-chan error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		w.warn(context.Background(), "the vault cannot be watched; changes are found by checking all notes", err)
		return nil, nil
	}
	w.system = system
	w.follow(w.index.vault.Dir())
	return system.Events, system.Errors
}

// follow watches a folder and the folders below it, but no symbolic links.
func (w *watch) follow(dir string) {
	if w.system == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil { // deleted or unreadable; Sync reports it
			return nil
		}
		if !e.IsDir() {
			return nil
		}
		if p != w.index.vault.Dir() && strings.HasPrefix(e.Name(), ".") {
			return filepath.SkipDir
		}
		if !w.known[p] {
			if err := w.system.Add(p); err != nil {
				w.warn(context.Background(), "a folder of the vault cannot be watched; changes in it are found by checking all notes", err)
				return nil
			}
			w.known[p] = true
		}
		return nil
	})
}

// record notes a change and reports whether it concerns the index.
func (w *watch) record(e fsnotify.Event) bool {
	rel, err := filepath.Rel(w.index.vault.Dir(), e.Name)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	if slices.ContainsFunc(strings.Split(rel, "/"), func(name string) bool { return strings.HasPrefix(name, ".") }) {
		return false // files of editors, and the index itself
	}
	if e.Has(fsnotify.Create) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			w.follow(e.Name)
			w.all = true // notes may have been added before it was watched
			return true
		}
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		if w.known[e.Name] { // with the folders below it
			for p := range w.known {
				if p == e.Name || strings.HasPrefix(p, e.Name+string(filepath.Separator)) {
					_ = w.system.Remove(p) // a folder that was moved out is still watched
					delete(w.known, p)
				}
			}
			w.all = true
			return true
		}
	}
	uri, err := vault.PathURI(rel)
	if err != nil || !strings.EqualFold(filepath.Ext(rel), ".md") {
		return false
	}
	w.changed[uri] = true
	return true
}

// wait returns how long to wait for further changes. A program that never stops
// writing does not delay the index for ever.
func (w *watch) wait() time.Duration {
	const maxWaits = 10
	if w.since.IsZero() {
		w.since = time.Now()
	}
	left := maxWaits*w.index.debounce - time.Since(w.since)
	return max(min(w.index.debounce, left), 0)
}

// maxChanged is how many changed notes are read one by one. More of them lead to a
// Sync.
const maxChanged = 200

func (w *watch) flush(ctx context.Context) error {
	notes := slices.Sorted(maps.Keys(w.changed))
	all := w.all || len(notes) > maxChanged
	clear(w.changed)
	w.all = false
	if all {
		w.follow(w.index.vault.Dir())
		_, err := w.index.Sync(ctx, nil)
		return err
	}
	if len(notes) == 0 {
		return nil
	}
	if err := w.index.Refresh(ctx, notes...); err != nil {
		return err
	}
	if _, err := w.index.embed(ctx, func(Progress) {}); err != nil {
		if sequent.CodeOf(err) != CodeEmbeddingsFailed {
			return err
		}
		w.warn(ctx, "the embedding model did not answer", err)
	}
	return nil
}

// warn logs a warning, unless it repeats the last one.
func (w *watch) warn(ctx context.Context, msg string, err error) {
	cause := errors.Unwrap(err)
	if cause == nil {
		cause = err
	}
	if s := msg + cause.Error(); s != w.warned {
		w.warned = s
		w.index.log.WarnContext(ctx, msg, "vault", w.index.vault.Dir(), "error", err)
	}
}

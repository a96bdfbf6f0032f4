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

// Watch keeps the index up to date with the vault until ctx is done: it begins
// with a Sync, follows what the system tells of changes, and now and then looks
// at all notes, because systems do not tell of every change. What fails is
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
			} else if w.note(e) {
				due.Reset(w.wait())
			}
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			w.complain(ctx, "some changes of the vault were missed, and are looked for", err)
			w.all = true
			due.Reset(w.wait())
		case <-rescan.C:
			w.all = true
			due.Reset(0)
		case <-due.C:
			if err := w.flush(ctx); err != nil && ctx.Err() == nil {
				w.complain(ctx, "the index of the vault could not be brought up to date; it is tried again", err)
				w.all = true
			}
			w.since = time.Time{}
		}
	}
}

// A watch is a running call of Watch.
type watch struct {
	index   *Index
	system  *fsnotify.Watcher // nil if the system has none to give
	known   map[string]bool   // folders that are watched
	changed map[vault.URI]bool
	all     bool      // more than the notes in changed may have changed
	since   time.Time // of the first change that is not in the index; zero if there is none
	told    string    // what the log already says
}

func (w *watch) open() (<-chan fsnotify.Event, <-chan error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		w.complain(context.Background(), "the vault cannot be watched; changes are found by looking", err)
		return nil, nil
	}
	w.system = system
	w.follow(w.index.vault.Dir())
	return system.Events, system.Errors
}

// follow watches a folder and those below it. Links are not followed.
func (w *watch) follow(dir string) {
	if w.system == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil { // it is gone, or not to be read; a Sync reports it
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
				w.complain(context.Background(), "a folder of the vault cannot be watched; changes in it are found by looking", err)
				return nil
			}
			w.known[p] = true
		}
		return nil
	})
}

// note takes a change down and reports whether it matters.
func (w *watch) note(e fsnotify.Event) bool {
	rel, err := filepath.Rel(w.index.vault.Dir(), e.Name)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	if slices.ContainsFunc(strings.Split(rel, "/"), func(name string) bool { return strings.HasPrefix(name, ".") }) {
		return false // what editors keep, and the index itself
	}
	if e.Has(fsnotify.Create) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			w.follow(e.Name)
			w.all = true // what was in it before it was watched
			return true
		}
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		if w.known[e.Name] { // and what was below it
			for p := range w.known {
				if p == e.Name || strings.HasPrefix(p, e.Name+string(filepath.Separator)) {
					_ = w.system.Remove(p) // a folder that was moved away is watched still
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

// wait returns for how long to wait for more changes. Whoever never stops
// writing is not waited for.
func (w *watch) wait() time.Duration {
	const patience = 10 // times the usual wait
	if w.since.IsZero() {
		w.since = time.Now()
	}
	left := patience*w.index.debounce - time.Since(w.since)
	return max(min(w.index.debounce, left), 0)
}

// mostChanged is how many changed notes are looked at one by one.
const mostChanged = 200

func (w *watch) flush(ctx context.Context) error {
	notes := slices.Sorted(maps.Keys(w.changed))
	all := w.all || len(notes) > mostChanged
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
		w.complain(ctx, "the embedding model could not be asked", err)
	}
	return nil
}

// complain logs what is new.
func (w *watch) complain(ctx context.Context, msg string, err error) {
	cause := errors.Unwrap(err)
	if cause == nil {
		cause = err
	}
	if s := msg + cause.Error(); s != w.told {
		w.told = s
		w.index.log.WarnContext(ctx, msg, "vault", w.index.vault.Dir(), "error", err)
	}
}

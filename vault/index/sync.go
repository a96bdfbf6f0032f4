package index

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A Report is the result of Sync.
type Report struct {
	Notes     int `json:"notes"`     // in the index
	Changed   int `json:"changed"`   // new or changed notes that were read
	Removed   int `json:"removed"`   // notes that are no longer in the vault
	Concepts  int `json:"concepts"`  // that at least one note links to
	Relations int `json:"relations"` // pairs of concepts that a note links to
	Orphans   int `json:"orphans"`   // concepts without a relation

	Unreadable []error `json:"-"` // for each note or folder that was left out, a *sequent.Error that names it
	Embedded   int     `json:"-"` // texts sent to the embedding model
	Warning    string  `json:"-"` // why the index lacks vectors; empty if it does not
	Partial    bool    `json:"-"` // Relations is too low: counting them all would take too long
}

// Progress is how far Sync is.
type Progress struct {
	Stage string // "reading" notes or "embedding" passages
	Done  int
	Total int
}

// Sync brings the index up to date with the vault. It skips notes whose size and
// time have not changed. It calls progress, unless that is nil, from one goroutine
// at a time.
//
// Notes that cannot be read and a model that does not answer are reported and are
// no error. If ctx is cancelled, the index keeps what was read until then.
func (x *Index) Sync(ctx context.Context, progress func(Progress)) (Report, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	var report Report
	err := x.write(ctx, func(w *writer) (err error) {
		report, err = x.sync(ctx, w, progress)
		return err
	})
	if err != nil {
		return report, err
	}
	report.Embedded, err = x.embed(ctx, progress)
	if sequent.CodeOf(err) == CodeEmbeddingsFailed {
		x.log.WarnContext(ctx, "the embedding model did not answer", "error", err)
		report.Warning = "the embedding model did not answer; searches by meaning miss some notes until a later sync"
		err = nil
	}
	return report, err
}

// Refresh brings the index up to date with the given notes, which may be new,
// changed or deleted. If no Sync has ever completed, it reads all notes. It leaves
// embeddings to [Index.Sync] and [Index.Watch].
func (x *Index) Refresh(ctx context.Context, notes ...vault.URI) error {
	return x.write(ctx, func(w *writer) error {
		snap, err := x.current(ctx)
		if err != nil {
			return err
		}
		if !snap.synced {
			_, err := x.sync(ctx, w, func(Progress) {})
			return err
		}
		var set changeset
		for _, uri := range notes {
			if canonical, err := vault.ParseURI(string(uri)); err == nil {
				uri = canonical
			}
			_ = x.readNote(ctx, w.file, snap, uri, &set) // the next Sync reports what cannot be read
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return w.apply(ctx, &set)
	})
}

// write calls f under the lock. If the index is damaged, it calls f again with a
// new one.
func (x *Index) write(ctx context.Context, f func(*writer) error) error {
	unlock, err := x.lock(ctx)
	if err != nil {
		return wrap(err)
	}
	defer unlock()
	try := func() error {
		file, err := x.acquire(ctx, forWriting)
		if err != nil {
			return err
		}
		defer file.Release()
		w := &writer{file: file}
		if err := f(w); err != nil {
			return err
		}
		if err := w.flush(ctx); err != nil {
			x.log.WarnContext(ctx, "deleted text is still in the log of the vault's index", "error", err)
		}
		return nil
	}
	err = try()
	if isDamage(err) && ctx.Err() == nil {
		x.log.WarnContext(ctx, "the index of the vault is damaged; it is rebuilt", "index", x.path, "error", err)
		if err = x.discard(); err == nil {
			err = try()
		}
	}
	if err != nil && ctx.Err() != nil { // SQLite's error only says that it was interrupted
		err = ctx.Err()
	}
	return wrap(err)
}

// current returns the current snapshot.
func (x *Index) current(ctx context.Context) (*snapshot, error) {
	v, err := x.view(ctx)
	if err != nil {
		return nil, err
	}
	defer v.close()
	return v.snapshot, nil
}

func (x *Index) sync(ctx context.Context, w *writer, progress func(Progress)) (Report, error) {
	var report Report
	snap, err := x.current(ctx)
	if err != nil {
		return report, err
	}
	todo, set, err := x.compare(ctx, snap, &report)
	if err != nil {
		return report, err
	}
	report.Removed = len(set.removed)
	for done := 0; ; {
		n := batch(todo[done:])
		if err := x.readNotes(ctx, w.file, snap, todo[done:done+n], &set, &report); err != nil {
			return report, err
		}
		if err := w.apply(ctx, &set); err != nil {
			return report, err
		}
		report.Changed += len(set.docs)
		set = changeset{}
		if done += n; n > 0 {
			progress(Progress{"reading", done, len(todo)})
		}
		if done == len(todo) {
			break
		}
	}
	if !snap.synced {
		if _, err := w.file.Writer.ExecContext(ctx, "UPDATE state SET synced = 1"); err != nil {
			return report, err
		}
	}
	if snap, err = x.current(ctx); err != nil {
		return report, err
	}
	graph := snap.count()
	report.Notes = len(snap.notes)
	report.Concepts, report.Relations, report.Orphans, report.Partial = graph.concepts, graph.relations, graph.orphans, graph.partial
	return report, nil
}

// compare returns the notes that must be read and those that are deleted.
func (x *Index) compare(ctx context.Context, snap *snapshot, report *Report) (todo []vault.Info, set changeset, err error) {
	seen := make([]vault.URI, 0, len(snap.notes)) // notes that the index has
	partial := false                              // a folder could not be read
	for info, err := range x.vault.Walk(ctx) {
		if ctx.Err() != nil {
			return nil, set, ctx.Err()
		}
		if err != nil {
			partial = partial || sequent.CodeOf(err) != vault.CodeInvalidURI
			report.Unreadable = append(report.Unreadable, err)
			continue
		}
		old := snap.uris[info.URI]
		if old != nil {
			seen = append(seen, info.URI)
		}
		if old == nil || !old.settled || old.size != info.Size || old.modified != info.Modified.UnixNano() {
			todo = append(todo, info)
		}
	}
	if len(seen) == len(snap.uris) {
		return todo, set, nil
	}
	missing := maps.Clone(snap.uris)
	for _, uri := range seen {
		delete(missing, uri)
	}
	for uri, n := range missing {
		if partial {
			if _, err := x.vault.Stat(ctx, uri); !errors.Is(err, vault.ErrNotFound) {
				continue
			}
		}
		set.removed = append(set.removed, n.id)
	}
	slices.Sort(set.removed)
	return todo, set, nil
}

// batch returns how many of the notes are indexed in one transaction.
func batch(todo []vault.Info) int {
	const maxNotes, maxBytes = 512, 16 << 20
	size := int64(0)
	for i, info := range todo {
		if size += info.Size; i == maxNotes || size > maxBytes && i > 0 {
			return i
		}
	}
	return len(todo)
}

// readNotes reads notes, several at once, into set.
func (x *Index) readNotes(ctx context.Context, f *file, snap *snapshot, todo []vault.Info, set *changeset, report *Report) error {
	sets := make([]changeset, len(todo))
	errs := make([]error, len(todo))
	var workers sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for worker := range n {
		workers.Go(func() {
			for i := worker; i < len(todo) && ctx.Err() == nil; i += n {
				errs[i] = x.readNote(ctx, f, snap, todo[i].URI, &sets[i])
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, one := range sets {
		if errs[i] != nil {
			report.Unreadable = append(report.Unreadable, errs[i])
		}
		set.docs = append(set.docs, one.docs...)
		set.removed = append(set.removed, one.removed...)
		set.touched = append(set.touched, one.touched...)
	}
	return nil
}

// readNote reads a note and adds to set what the index must change. A note that cannot
// be read is removed from the index.
func (x *Index) readNote(ctx context.Context, f *file, snap *snapshot, uri vault.URI, set *changeset) error {
	old := snap.uris[uri]
	note, err := x.vault.Read(ctx, uri)
	if err != nil {
		if ctx.Err() == nil && old != nil {
			set.removed = append(set.removed, old.id)
		}
		if errors.Is(err, vault.ErrNotFound) {
			return nil
		}
		return err
	}
	doc, err := newDocument(note)
	if err != nil {
		if old != nil {
			set.removed = append(set.removed, old.id)
		}
		return err
	}
	if old != nil {
		var hash []byte
		err := f.Readers.QueryRowContext(ctx, "SELECT hash FROM notes WHERE id = ?", old.id).Scan(&hash)
		if err == nil && slices.Equal(hash, doc.hash[:]) {
			if old.size != doc.info.Size || old.modified != doc.info.Modified.UnixNano() || old.settled != settled(doc.info) {
				set.touched = append(set.touched, touch{old.id, doc.info})
			}
			return nil
		}
	}
	set.docs = append(set.docs, doc)
	return nil
}

// Rebuild removes the index and calls Sync: it reads every note and asks the
// Embedder for every passage. Searches wait for it, or rebuild the index
// themselves.
func (x *Index) Rebuild(ctx context.Context, progress func(Progress)) (Report, error) {
	unlock, err := x.lock(ctx)
	if err != nil {
		return Report{}, wrap(err)
	}
	err = x.discard()
	unlock()
	if err != nil {
		return Report{}, wrap(err)
	}
	return x.Sync(ctx, progress)
}

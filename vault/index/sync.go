package index

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A Report says what Sync found and did.
type Report struct {
	Notes   int // in the vault now, as far as they can be read
	Changed int // read anew, because they were new or not as before
	Removed int // no longer in the vault
	// Unreadable are notes and folders that the index had to leave out.
	Unreadable []Problem

	Concepts  int // that at least one note mentions
	Relations int // pairs of concepts that occur together in a note
	Orphans   int // concepts that occur together with no other

	Embedded int    // texts for which the embedding model was asked
	Warning  string // what did not work and is not needed for the rest; mostly empty

	Elapsed time.Duration
}

// A Problem is a note, or a folder, that cannot be indexed.
type Problem struct {
	URI vault.URI // empty if the place cannot have one
	Err error     // a *sequent.Error that names the place
}

// Progress says how far Sync is.
type Progress struct {
	Stage string // "reading" notes, or "embedding" passages
	Done  int
	Total int
}

// Sync brings the index up to date with the vault. It passes over notes whose
// size and time have not changed. Progress, if it is not nil, is called now and
// then, by one goroutine at a time.
//
// Notes that cannot be read, and an embedding model that does not answer, are
// in the report and no error. If ctx is done, what has been read so far stays
// in the index.
func (x *Index) Sync(ctx context.Context, progress func(Progress)) (Report, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	start := time.Now()
	var report Report
	err := x.writing(ctx, func(w *writer) (err error) {
		report, err = x.sync(ctx, w, progress)
		return err
	})
	if err != nil {
		return report, err
	}
	report.Embedded, err = x.embed(ctx, progress)
	if sequent.CodeOf(err) == CodeEmbeddingsFailed {
		x.log.WarnContext(ctx, "the embedding model could not be asked", "error", err)
		report.Warning = "the embedding model could not be asked; searches by meaning miss some notes until a later sync"
		err = nil
	}
	report.Elapsed = time.Since(start)
	return report, err
}

// Refresh brings the index up to date with some notes, which may be new,
// changed or gone. It does not look at others, unless the index has never been
// complete, and leaves embeddings to [Index.Sync] and [Index.Watch].
func (x *Index) Refresh(ctx context.Context, notes ...vault.URI) error {
	return x.writing(ctx, func(w *writer) error {
		snap, err := x.now(ctx)
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
			_ = x.look(ctx, w.file, snap, uri, &set) // what cannot be read the next Sync reports
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return w.apply(ctx, &set)
	})
}

// writing calls f with the right to write. If the index turns out to be damaged,
// it does so again with a new one.
func (x *Index) writing(ctx context.Context, f func(*writer) error) error {
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
		return f(newWriter(file))
	}
	err = try()
	if isDamage(err) && ctx.Err() == nil {
		x.log.WarnContext(ctx, "the index of the vault is damaged and is made anew", "index", x.path, "error", err)
		if err = x.discard(); err == nil {
			err = try()
		}
	}
	if err != nil && ctx.Err() != nil { // SQLite only says that it was interrupted
		err = ctx.Err()
	}
	return wrap(err)
}

// now returns the present snapshot.
func (x *Index) now(ctx context.Context) (*snapshot, error) {
	v, err := x.view(ctx)
	if err != nil {
		return nil, err
	}
	defer v.close()
	return v.snapshot, nil
}

func (x *Index) sync(ctx context.Context, w *writer, progress func(Progress)) (Report, error) {
	var report Report
	snap, err := x.now(ctx)
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
		if err := x.read(ctx, w.file, snap, todo[done:done+n], &set, &report); err != nil {
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
	if snap, err = x.now(ctx); err != nil {
		return report, err
	}
	graph := snap.count()
	report.Notes = len(snap.notes)
	report.Concepts, report.Relations, report.Orphans = graph.concepts, graph.relations, graph.orphans
	return report, nil
}

// compare returns the notes that have to be read, and what is gone.
func (x *Index) compare(ctx context.Context, snap *snapshot, report *Report) (todo []vault.Info, set changeset, err error) {
	seen := make([]vault.URI, 0, len(snap.notes)) // of the notes that the index has
	blind := false                                // a folder could not be read
	for info, err := range x.vault.Walk(ctx) {
		if ctx.Err() != nil {
			return nil, set, ctx.Err()
		}
		if err != nil {
			blind = blind || sequent.CodeOf(err) != vault.CodeInvalidURI
			report.Unreadable = append(report.Unreadable, Problem{info.URI, err})
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
	gone := make(map[vault.URI]*noteInfo)
	if len(seen) < len(snap.uris) {
		maps.Copy(gone, snap.uris)
		for _, uri := range seen {
			delete(gone, uri)
		}
	}
	for uri, n := range gone {
		if blind {
			if _, err := x.vault.Stat(ctx, uri); !errors.Is(err, vault.ErrNotFound) {
				continue
			}
		}
		set.removed = append(set.removed, n.id)
	}
	slices.Sort(set.removed)
	return todo, set, nil
}

// batch returns how many notes go into one transaction.
func batch(todo []vault.Info) int {
	const most = 16 << 20 // bytes
	size := int64(0)
	for i, info := range todo {
		if size += info.Size; i == chunkNotes || size > most && i > 0 {
			return i
		}
	}
	return len(todo)
}

// read reads notes, several at once, into set.
func (x *Index) read(ctx context.Context, f *file, snap *snapshot, todo []vault.Info, set *changeset, report *Report) error {
	sets := make([]changeset, len(todo))
	errs := make([]error, len(todo))
	var workers sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for worker := range n {
		workers.Go(func() {
			for i := worker; i < len(todo) && ctx.Err() == nil; i += n {
				errs[i] = x.look(ctx, f, snap, todo[i].URI, &sets[i])
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, one := range sets {
		if errs[i] != nil {
			report.Unreadable = append(report.Unreadable, Problem{todo[i].URI, errs[i]})
		}
		set.docs = append(set.docs, one.docs...)
		set.removed = append(set.removed, one.removed...)
		set.touched = append(set.touched, one.touched...)
	}
	return nil
}

// look reads a note and adds to set what the index has to do about it. A note
// that cannot be read is one that the index does not have.
func (x *Index) look(ctx context.Context, f *file, snap *snapshot, uri vault.URI, set *changeset) error {
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
	doc := newDocument(note)
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

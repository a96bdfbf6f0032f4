package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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
	Warning    string  `json:"-"` // why the index lacks vectors; empty if it does not
	Partial    bool    `json:"-"` // Relations is too low: counting them all would take too long
}

// Progress is how far a call is.
type Progress struct {
	Stage string // "reading" notes or "embedding" passages
	Done  int
	Total int
}

// Sync brings the index up to date with the vault, with vectors for all notes, and counts
// what is in it. It skips notes whose size and time have not changed. It calls progress,
// unless that is nil, from one goroutine at a time.
//
// Notes that cannot be read and a model that does not answer are reported and are
// no error. If ctx is cancelled, the index keeps what was read until then.
func (x *Index) Sync(ctx context.Context, progress func(Progress)) (report Report, err error) {
	err = x.current(ctx, true, progress, func(r Report) error {
		report = r
		err := x.embed(ctx, progress, true)
		if sequent.CodeOf(err) == CodeEmbeddingsFailed {
			x.cfg.Log.WarnContext(ctx, "the embedding model did not answer", "error", err)
			report.Warning = "the embedding model did not answer; searches by meaning miss some notes until a later sync"
			err = nil
		}
		if err != nil {
			return err
		}
		return x.view(ctx, report.count)
	})
	return report, err
}

// Update brings words and links of the index up to date with the vault, as each search does.
func (x *Index) Update(ctx context.Context) error {
	return x.current(ctx, false, nil, func(Report) error { return nil })
}

// Rebuild removes the index and calls Sync: it reads every note and asks the
// Embedder for every passage.
func (x *Index) Rebuild(ctx context.Context, progress func(Progress)) (Report, error) {
	if err := x.discard(); err != nil {
		return Report{}, wrap(err)
	}
	return x.Sync(ctx, progress)
}

// A stamp is how a changed file is recognized.
type stamp struct{ size, modified int64 }

// scan indexes the notes that have changed, and those without passages for the Embedder.
// It asks the system which notes have changed, and compares all if the system does not tell
// or all is set.
func (x *Index) scan(ctx context.Context, all bool, progress func(Progress)) (report Report, err error) {
	select {
	case x.scanning <- struct{}{}:
		defer func() { <-x.scanning }()
	case <-ctx.Done():
		return report, ctx.Err()
	}
	db, err := x.open(ctx)
	if err != nil {
		return report, err
	}
	var todo []vault.Info
	told := x.watch.changed(x.changed)
	if !told {
		x.watch.close()
		x.watch = x.newWatch(x.cfg.Vault.Dir()) // before the notes are compared, so that nothing is missed between
	}
	whole := true
	if all || !told || x.whole != db {
		clear(x.changed)
		x.whole = nil
		todo, whole, err = x.compare(ctx, &report)
	} else {
		todo = x.named(ctx)
	}
	const most, mostBytes = 128, 1 << 20 // read and written at once
	for done := 0; done < len(todo) && err == nil; {
		next := done
		for size := int64(0); next < len(todo) && next < done+most && (next == done || size+todo[next].Size <= mostBytes); next++ {
			size += todo[next].Size
		}
		docs := x.load(ctx, todo[done:next])
		if err = ctx.Err(); err == nil { // otherwise load has read nothing
			err = x.write(ctx, func(t *tx) { report.Changed += x.put(t, docs) })
		}
		for _, d := range docs {
			if d.err != nil && !errors.Is(d.err, vault.ErrNotFound) {
				report.Unreadable = append(report.Unreadable, d.err)
				x.changed[d.info.Path] = true // the next scan tries again
			} else if err == nil {
				delete(x.changed, d.info.Path)
			}
		}
		if done = next; progress != nil {
			progress(Progress{"reading", done, len(todo)})
		}
	}
	if len(todo) > 0 {
		x.flush(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && whole {
		x.whole = db
	}
	return report, err
}

// named returns the notes among the files that the system says have changed.
func (x *Index) named(ctx context.Context) (todo []vault.Info) {
	for _, p := range slices.Sorted(maps.Keys(x.changed)) {
		uri, err := vault.PathURI(p)
		if err != nil || uri.Path() != p { // not a note
			delete(x.changed, p)
			continue
		}
		info, err := x.cfg.Vault.Stat(ctx, uri)
		if err != nil {
			info = vault.Info{URI: uri, Path: p} // load says why
		}
		todo = append(todo, info)
	}
	return todo
}

// compare returns the notes whose size or time is not that of the index. It reports whether it
// saw all notes.
func (x *Index) compare(ctx context.Context, report *Report) (todo []vault.Info, whole bool, err error) {
	known := make(map[string]stamp)
	if err := x.view(ctx, func(t *tx) {
		var p string
		var s stamp
		t.each("SELECT path, iif(?1 IN ('', model), size, -1), modified FROM notes", []any{x.cfg.Model}, func() { known[p] = s },
			&p, &s.size, &s.modified)
	}); err != nil {
		return nil, false, err
	}
	whole = true
	for info, err := range x.cfg.Vault.Walk(ctx, "") {
		if err != nil {
			report.Unreadable = append(report.Unreadable, err)
			whole = whole && sequent.CodeOf(err) == vault.CodeInvalidURI
			continue
		}
		p := info.Path
		if old, ok := known[p]; !ok || old != (stamp{info.Size, info.Modified.UnixNano()}) {
			todo = append(todo, info)
		}
		delete(known, p)
	}
	for p := range known {
		if uri, err := vault.PathURI(p); err == nil {
			report.Removed++
			todo = append(todo, vault.Info{URI: uri, Path: p})
		}
	}
	return todo, whole, nil
}

// load reads notes at once.
func (x *Index) load(ctx context.Context, notes []vault.Info) []document {
	docs := make([]document, len(notes))
	var reading sync.WaitGroup
	for i, info := range notes {
		reading.Go(func() {
			n, err := x.cfg.Vault.Read(ctx, info.URI)
			if err == nil {
				docs[i], err = newDocument(n)
			}
			if err != nil {
				docs[i] = document{info: info, err: err}
			}
		})
	}
	reading.Wait()
	return docs
}

// put writes documents, and returns how many of them have a new text.
func (x *Index) put(t *tx, docs []document) (changed int) {
	ids := make(map[int64]*document)
	for i := range docs {
		d := &docs[i]
		if x.unchanged(t, d) {
			continue
		}
		t.exec("DELETE FROM notes WHERE path = ?", d.info.Path)
		if d.err == nil {
			ids[x.insert(t, d)] = d
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) { // FTS5 writes them at once if no other statement comes between
		t.exec("INSERT INTO words(rowid, head, body) VALUES (?, ?, ?)", id, ids[id].head, ids[id].body)
	}
	return len(ids)
}

// stamp returns the stamp of a document. Right after a change the next one may leave size
// and time as they are: file systems count time in steps of up to two seconds.
func (d *document) stamp() stamp {
	s := stamp{d.info.Size, d.info.Modified.UnixNano()}
	if time.Since(d.info.Modified) < 2*time.Second {
		s.size = -1
	}
	return s
}

// unchanged reports whether the index has the text of a document, and records its stamp if so.
func (x *Index) unchanged(t *tx, d *document) bool {
	var hash []byte
	p, s := d.info.Path, d.stamp()
	t.each("SELECT hash FROM notes WHERE path = ? AND ? IN ('', model)", []any{p, x.cfg.Model}, nil, &hash)
	if d.err != nil || !bytes.Equal(hash, d.hash[:]) {
		return false
	}
	t.exec("UPDATE notes SET size = ?, modified = ? WHERE path = ?", s.size, s.modified, p)
	return true
}

// insert writes a document without its words, and returns its id.
func (x *Index) insert(t *tx, d *document) (id int64) {
	var tags strings.Builder
	for _, t := range d.tags {
		tags.WriteString(" " + t + " ")
	}
	s := d.stamp()
	t.each("INSERT INTO notes(path, size, modified, hash, title, tags, model) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
		[]any{d.info.Path, s.size, s.modified, d.hash[:], d.title, tags.String(), x.cfg.Model}, nil, &id)
	const link = "INSERT OR IGNORE INTO links SELECT value, ?, ? FROM json_each(?)"
	t.exec(link, id, false, list(d.links))
	t.exec(link, id, true, list(d.names))
	if x.cfg.Embedder != nil {
		for _, text := range d.passages() {
			t.exec("INSERT OR IGNORE INTO passages VALUES (?, ?, ?)", id, x.key(text), text)
		}
	}
	return id
}

// list returns texts as the argument of json_each.
func list(texts []string) string {
	data, err := json.Marshal(append([]string{}, texts...))
	if err != nil {
		panic(err) // strings have no errors
	}
	return string(data)
}

// flush moves what was written from SQLite's log into the file, so that removed text is
// in neither, also if the caller leaves. A reader may prevent it; the next flush tries again.
func (x *Index) flush(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	db, err := x.open(ctx)
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err != nil {
		x.cfg.Log.WarnContext(ctx, "deleted text is still in the log of the vault's index", "error", err)
	}
}

// maxCounted limits the pairs of links that are counted as relations, to about a second.
const maxCounted = 1 << 19

// count sets what the report says about all notes.
func (r *Report) count(t *tx) {
	pairs := 0
	t.each(`SELECT
		(SELECT count(*) FROM notes),
		(SELECT count(DISTINCT concept) FROM links WHERE NOT named),
		(SELECT count(*) FROM (
			SELECT 1 FROM links a WHERE NOT named GROUP BY concept
			HAVING NOT max(EXISTS (SELECT 1 FROM links b WHERE b.note = a.note AND b.named = 0 AND b.concept != a.concept)))),
		(SELECT count(*) FROM (SELECT DISTINCT one, other FROM (
			SELECT a.concept AS one, b.concept AS other
			FROM links a JOIN links b ON b.note = a.note AND b.named = 0 AND b.concept > a.concept
			WHERE NOT a.named LIMIT ?))),
		(SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM (SELECT count(*) AS n FROM links WHERE NOT named GROUP BY note))`,
		[]any{maxCounted}, nil, &r.Notes, &r.Concepts, &r.Orphans, &r.Relations, &pairs)
	r.Partial = pairs > maxCounted
}

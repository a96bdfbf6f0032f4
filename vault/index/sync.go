package index

import (
	"bytes"
	"context"
	"database/sql"
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
	report, err := x.update(ctx, progress, atOnce)
	if err != nil {
		return report, err
	}
	return report, x.count(ctx, &report)
}

// A turn is Config.Turn.
type turn = func(ctx context.Context) (done func(), err error)

// atOnce is a turn that comes at once.
func atOnce(context.Context) (done func(), err error) { return func() {}, nil }

// update is Sync without the counts of all notes.
func (x *Index) update(ctx context.Context, progress func(Progress), turn turn) (report Report, err error) {
	err = x.repairing(ctx, func() (err error) {
		report, err = x.sync(ctx, progress, turn)
		return err
	})
	if err != nil {
		return report, err
	}
	report.Embedded, err = x.embed(ctx, progress)
	if sequent.CodeOf(err) == CodeEmbeddingsFailed {
		x.cfg.Log.WarnContext(ctx, "the embedding model did not answer", "error", err)
		report.Warning = "the embedding model did not answer; searches by meaning miss some notes until a later sync"
		err = nil
	}
	return report, err
}

// Rebuild removes the index and calls Sync: it reads every note and asks the
// Embedder for every passage.
func (x *Index) Rebuild(ctx context.Context, progress func(Progress)) (Report, error) {
	if err := x.discard(); err != nil {
		return Report{}, wrap(err)
	}
	return x.Sync(ctx, progress)
}

// Refresh brings the index up to date with the given notes, which may be new,
// changed or deleted. It leaves embeddings to [Index.Sync] and [Index.Watch].
func (x *Index) Refresh(ctx context.Context, notes ...vault.URI) error {
	return x.repairing(ctx, func() error {
		docs, _ := x.load(ctx, notes) // the next Sync reports what cannot be read
		_, err := x.apply(ctx, docs)
		return err
	})
}

// A stamp is how a changed file is recognized.
type stamp struct{ size, modified int64 }

func (x *Index) sync(ctx context.Context, progress func(Progress), turn turn) (report Report, err error) {
	known, err := x.stamps(ctx)
	if err != nil {
		return report, err
	}
	var todo []vault.Info
	for info, err := range x.cfg.Vault.Walk(ctx) {
		if err != nil {
			report.Unreadable = append(report.Unreadable, err)
			continue
		}
		p := info.URI.Path()
		if old, ok := known[p]; !ok || old != (stamp{info.Size, info.Modified.UnixNano()}) {
			todo = append(todo, info)
		}
		delete(known, p)
	}
	for p := range known {
		if uri, err := vault.PathURI(p); err == nil {
			report.Removed++
			todo = append(todo, vault.Info{URI: uri})
		}
	}
	const most, mostBytes = 128, 1 << 20 // read and written at once
	for done := 0; done < len(todo); {
		var some []vault.URI
		for size := int64(0); done+len(some) < len(todo) && len(some) < most && (size == 0 || size+todo[done+len(some)].Size <= mostBytes); {
			next := todo[done+len(some)]
			some, size = append(some, next.URI), size+next.Size
		}
		end, err := turn(ctx)
		if err != nil {
			return report, err
		}
		docs, left := x.load(ctx, some)
		changed, err := x.apply(ctx, docs)
		end()
		if err != nil {
			return report, err
		}
		report.Changed += changed
		report.Unreadable = append(report.Unreadable, left...)
		done += len(some)
		progress(Progress{"reading", done, len(todo)})
	}
	if len(todo) > 0 {
		x.flush(ctx)
	}
	return report, ctx.Err()
}

// stamps returns the stamps of all notes by their paths.
func (x *Index) stamps(ctx context.Context) (map[string]stamp, error) {
	known := make(map[string]stamp)
	return known, x.view(ctx, func(tx *sql.Tx) error {
		return each(ctx, tx, func(scan scanner) error {
			var p string
			var s stamp
			err := scan(&p, &s.size, &s.modified)
			known[p] = s
			return err
		}, "SELECT path, size, modified FROM notes")
	})
}

// load reads notes at once. Those that are not in the vault or cannot be read are gone
// from the index; left says why for the latter.
func (x *Index) load(ctx context.Context, uris []vault.URI) (docs []document, left []error) {
	docs = make([]document, len(uris))
	errs := make([]error, len(uris))
	var reading sync.WaitGroup
	for i, uri := range uris {
		reading.Go(func() {
			n, err := x.cfg.Vault.Read(ctx, uri)
			if err == nil {
				docs[i], err = newDocument(n)
			}
			if err != nil {
				docs[i] = document{info: vault.Info{URI: uri}, gone: true}
			}
			if !errors.Is(err, vault.ErrNotFound) {
				errs[i] = err
			}
		})
	}
	reading.Wait()
	return docs, slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// apply writes documents, or none of them. It returns how many of them have a new text.
func (x *Index) apply(ctx context.Context, docs []document) (changed int, err error) {
	if ctx.Err() != nil { // then load has read nothing
		return 0, ctx.Err()
	}
	return changed, x.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ids := make(map[int64]*document)
		for i := range docs {
			id, err := put(ctx, tx, &docs[i])
			if err != nil {
				return err
			}
			if id > 0 {
				ids[id] = &docs[i]
			}
		}
		changed = len(ids)
		for _, id := range slices.Sorted(maps.Keys(ids)) { // FTS5 writes them at once if no other statement comes between
			const insert = "INSERT INTO words(rowid, head, body) VALUES (?, ?, ?)"
			if _, err := tx.ExecContext(ctx, insert, id, ids[id].head, ids[id].body); err != nil {
				return err
			}
		}
		return nil
	})
}

// put writes a document without its words, and returns its id if its text is new; else 0.
func put(ctx context.Context, tx *sql.Tx, d *document) (id int64, err error) {
	p, size, modified := d.info.URI.Path(), d.info.Size, d.info.Modified.UnixNano()
	// Right after a change the next one may leave size and time as they are: file systems
	// count time in steps of up to two seconds.
	if time.Since(d.info.Modified) < 2*time.Second {
		size = -1
	}
	var hash []byte
	err = tx.QueryRowContext(ctx, "SELECT hash FROM notes WHERE path = ?", p).Scan(&hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	err = nil
	exec := executor(ctx, tx, &err)
	if !d.gone && bytes.Equal(hash, d.hash[:]) {
		exec("UPDATE notes SET size = ?, modified = ? WHERE path = ?", size, modified, p)
		return 0, err
	}
	if hash != nil {
		exec("DELETE FROM notes WHERE path = ?", p)
	}
	if d.gone || err != nil {
		return 0, err
	}
	var tags strings.Builder
	for _, t := range d.tags {
		tags.WriteString(" " + t + " ")
	}
	if err := tx.QueryRowContext(ctx,
		"INSERT INTO notes(path, size, modified, hash, title, tags) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
		p, size, modified, d.hash[:], d.title, tags.String()).Scan(&id); err != nil {
		return 0, err
	}
	const link = "INSERT OR IGNORE INTO links SELECT value, ?, ? FROM json_each(?)"
	exec(link, id, false, list(d.links))
	exec(link, id, true, list(d.names))
	return id, err
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
func (x *Index) count(ctx context.Context, r *Report) error {
	return x.read(ctx, func(tx *sql.Tx) error {
		pairs := 0
		err := tx.QueryRowContext(ctx, `SELECT
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
			maxCounted).Scan(&r.Notes, &r.Concepts, &r.Orphans, &r.Relations, &pairs)
		r.Partial = pairs > maxCounted
		return err
	})
}

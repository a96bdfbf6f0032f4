package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sequent-dev/sequent/internal/indexfile"
	"github.com/sequent-dev/sequent/vault"
)

// A changeset is what one transaction brings into the index.
type changeset struct {
	docs    []document
	removed []int64
	touched []touch
}

// A touch is a note whose text turned out to be the same.
type touch struct {
	id   int64
	info vault.Info
}

func (c *changeset) empty() bool { return len(c.docs)+len(c.removed)+len(c.touched) == 0 }

// settled reports whether the size and time of a note will be enough to see
// that it has changed. They are not right after a change: file systems count
// time in steps of up to two seconds.
func settled(info vault.Info) bool { return time.Since(info.Modified) > 2*time.Second }

// A writer brings changes into a file. The caller holds the lock.
type writer struct {
	file *file
	ids  map[string]int64 // of words, as far as they are known
}

func newWriter(f *file) *writer { return &writer{file: f, ids: make(map[string]int64)} }

// apply carries out a changeset, or nothing of it.
func (w *writer) apply(ctx context.Context, set *changeset) error {
	if set.empty() {
		return nil
	}
	fresh := make(map[string]int64) // ids that hold only if the transaction does
	err := indexfile.InTx(ctx, w.file.Writer, func(tx *sql.Tx) error {
		// A context that can be cancelled costs a goroutine a statement.
		t := writeTx{Tx: tx, given: ctx, ctx: context.WithoutCancel(ctx), known: w.ids, fresh: fresh, changes: make(map[change][]posting)}
		if err := t.prepare(); err != nil {
			return err
		}
		return t.run(set)
	})
	if err == nil {
		maps.Copy(w.ids, fresh)
	}
	return err
}

// A change is a row of words in a field whose postings change.
type change struct {
	word  string
	field field
}

type writeTx struct {
	*sql.Tx
	given        context.Context // the caller's, which is looked at between statements
	ctx          context.Context
	rev          int64
	known, fresh map[string]int64
	changes      map[change][]posting

	newest int64 // note before this transaction

	findWord, addWord, getRow, putRow, findNote, addNote *sql.Stmt
}

func (t *writeTx) prepare() error {
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&t.findWord, "SELECT id FROM words WHERE word = ?"},
		{&t.addWord, "INSERT INTO words(word) VALUES (?)"},
		{&t.getRow, "SELECT data FROM postings WHERE key = ?"},
		{&t.putRow, "INSERT OR REPLACE INTO postings VALUES (?, ?)"},
		{&t.findNote, "SELECT id, head, more, body FROM notes WHERE path = ?"},
		{&t.addNote, `
			INSERT INTO notes(path, rev, size, modified, settled, hash, title, tags, concepts, about, length, head, more, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
	} {
		var err error
		if *p.stmt, err = t.PrepareContext(t.ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

func (t *writeTx) exec(query string, args ...any) error {
	_, err := t.ExecContext(t.ctx, query, args...)
	return err
}

func (t *writeTx) run(set *changeset) error {
	if err := t.QueryRowContext(t.ctx, "UPDATE state SET rev = rev + 1 RETURNING rev, (SELECT ifnull(max(id), 0) FROM notes)").
		Scan(&t.rev, &t.newest); err != nil {
		return err
	}
	for _, id := range set.removed {
		if err := t.remove(id); err != nil {
			return err
		}
	}
	for _, n := range set.touched {
		if err := t.exec("UPDATE notes SET rev = ?, size = ?, modified = ?, settled = ? WHERE id = ?",
			t.rev, n.info.Size, n.info.Modified.UnixNano(), settled(n.info), n.id); err != nil {
			return err
		}
	}
	for i := range set.docs {
		if err := t.given.Err(); err != nil {
			return err
		}
		if err := t.put(&set.docs[i]); err != nil {
			return err
		}
	}
	if err := t.writePostings(); err != nil {
		return err
	}
	return t.forgetRemovals()
}

// texts returns the id of a note that is read from row, and the words that the
// index has of it; none if there is no such note.
func texts(row *sql.Row) (id int64, old occurrences, err error) {
	var head, more, body string
	err = row.Scan(&id, &head, &more, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, occurrences{}, nil
	}
	if err == nil {
		old, _ = occurrencesOf(split(head), append([]string{body}, split(more)...))
	}
	return id, old, err
}

func (t *writeTx) remove(id int64) error {
	found, old, err := texts(t.QueryRowContext(t.ctx, "SELECT id, head, more, body FROM notes WHERE id = ?", id))
	if err != nil || found == 0 {
		return err
	}
	t.compare(id, old, occurrences{})
	for _, stmt := range []string{
		"DELETE FROM passages WHERE note = ?",
		"DELETE FROM notes WHERE id = ?",
	} {
		if err := t.exec(stmt, id); err != nil {
			return err
		}
	}
	return t.exec("INSERT INTO removed VALUES (?, ?)", id, t.rev)
}

func (t *writeTx) put(d *document) error {
	id, old, err := texts(t.findNote.QueryRowContext(t.ctx, d.path))
	if err != nil {
		return err
	}
	head, more := join(d.head), join(d.more)
	now, length := occurrencesOf(split(head), append([]string{d.body}, split(more)...))
	modified := d.info.Modified.UnixNano()
	if id == 0 {
		var added sql.Result
		if added, err = t.addNote.ExecContext(t.ctx, d.path, t.rev, d.info.Size, modified, settled(d.info), d.hash[:], d.title,
			join(d.tags), join(d.concepts), join(d.about), length, head, more, d.body); err == nil {
			id, err = added.LastInsertId()
		}
	} else {
		err = t.exec(`
			UPDATE notes SET rev = ?, size = ?, modified = ?, settled = ?, hash = ?, title = ?, tags = ?, concepts = ?,
				about = ?, length = ?, head = ?, more = ?, body = ?, embedded = '' WHERE id = ?`,
			t.rev, d.info.Size, modified, settled(d.info), d.hash[:], d.title, join(d.tags), join(d.concepts),
			join(d.about), length, head, more, d.body, id)
	}
	t.compare(id, old, now)
	return err
}

// compare notes which postings of a note differ.
func (t *writeTx) compare(id int64, old, now occurrences) {
	for f := range fields {
		for word, data := range now[f] {
			if before, ok := old[f][word]; !ok || !slices.Equal(before, data) {
				t.changes[change{word, f}] = append(t.changes[change{word, f}], posting{note: id, data: data})
			}
		}
		for word := range old[f] {
			if _, ok := now[f][word]; !ok {
				t.changes[change{word, f}] = append(t.changes[change{word, f}], posting{note: id})
			}
		}
	}
}

// writePostings rewrites the rows in which something changes, in the order of
// their keys.
func (t *writeTx) writePostings() error {
	type row struct {
		key     int64
		chunk   int64
		changes []posting
	}
	var rows []row
	for c, all := range t.changes {
		word, err := t.word(c.word)
		if err != nil {
			return err
		}
		sortPostings(all)
		for len(all) > 0 {
			chunk := all[0].note >> chunkBits
			n := 1
			for n < len(all) && all[n].note>>chunkBits == chunk {
				n++
			}
			rows = append(rows, row{rowKey(word, c.field, chunk), chunk, all[:n]})
			all = all[n:]
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	var old []posting
	for _, r := range rows {
		if err := t.given.Err(); err != nil {
			return err
		}
		var data []byte
		var err error
		if r.chunk <= t.newest>>chunkBits { // else it holds none but new notes
			if err = t.getRow.QueryRowContext(t.ctx, r.key).Scan(&data); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		if old, err = appendPostings(old[:0], r.chunk, data); err != nil {
			return err
		}
		if merged := merge(old, r.changes); len(merged) > 0 {
			_, err = t.putRow.ExecContext(t.ctx, r.key, appendRow(make([]byte, 0, len(data)+64), merged))
		} else {
			err = t.exec("DELETE FROM postings WHERE key = ?", r.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// word returns the id of a word, which it gives one if it has none.
func (t *writeTx) word(word string) (int64, error) {
	if id, ok := t.known[word]; ok {
		return id, nil
	}
	if id, ok := t.fresh[word]; ok {
		return id, nil
	}
	var id int64
	err := t.findWord.QueryRowContext(t.ctx, word).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		var added sql.Result
		if added, err = t.addWord.ExecContext(t.ctx, word); err == nil {
			id, err = added.LastInsertId()
		}
	}
	t.fresh[word] = id
	return id, err
}

// mostRemovals bounds the record of removals. Processes that have not looked
// since before it begins read the whole index anew.
const mostRemovals = 10_000

func (t *writeTx) forgetRemovals() error {
	var n int
	if err := t.QueryRowContext(t.ctx, "SELECT count(*) FROM removed").Scan(&n); err != nil || n <= mostRemovals {
		return err
	}
	return errors.Join(
		t.exec("DELETE FROM removed"),
		t.exec("UPDATE state SET floor = rev"),
	)
}

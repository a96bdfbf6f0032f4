package index

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/sequent-dev/sequent/internal/indexfile"
	"github.com/sequent-dev/sequent/vault"
)

// A changeset is what one transaction changes.
type changeset struct {
	docs    []document
	removed []int64
	touched []touch
}

// A touch is a note whose size or time has changed and whose text has not.
type touch struct {
	id   int64
	info vault.Info
}

func (c *changeset) empty() bool { return len(c.docs)+len(c.removed)+len(c.touched) == 0 }

// settled reports whether the next change of a note will change its size or time.
// Right after a change it may not: file systems count time in steps of up to two
// seconds.
func settled(info vault.Info) bool { return time.Since(info.Modified) > 2*time.Second }

// A writer applies changesets to a file. The caller holds the lock.
type writer struct {
	file   *file
	erased bool // text was removed
}

// apply applies a changeset, or none of it.
func (w *writer) apply(ctx context.Context, set *changeset) error {
	if set.empty() {
		return nil
	}
	return indexfile.InTx(ctx, w.file.Writer, func(tx *sql.Tx) error {
		// With a context that can be cancelled, each statement starts a goroutine.
		t := writeTx{Tx: tx, writer: w, given: ctx, ctx: context.WithoutCancel(ctx)}
		if err := t.prepare(); err != nil {
			return err
		}
		return t.run(set)
	})
}

// flush moves what was written from SQLite's log into the file, so that removed
// text is in neither. A reader may prevent it; the next flush tries again.
func (w *writer) flush(ctx context.Context) error {
	if !w.erased {
		return nil
	}
	_, err := w.file.Writer.ExecContext(ctx, "PRAGMA busy_timeout=100; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout=10000")
	return err
}

type writeTx struct {
	*sql.Tx
	*writer
	given context.Context // the caller's; checked between statements
	ctx   context.Context
	rev   int64

	findNote, addNote, addWords *sql.Stmt
}

func (t *writeTx) prepare() error {
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&t.findNote, "SELECT id, head, more, body FROM notes WHERE path = ?"},
		{&t.addNote, `
			INSERT INTO notes(path, rev, size, modified, settled, hash, title, tags, concepts, about, head, more, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&t.addWords, "INSERT INTO words(rowid, head, body, head_stems, body_stems) VALUES (?, ?, ?, ?, ?)"},
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
	if err := t.QueryRowContext(t.ctx, "UPDATE state SET rev = rev + 1 RETURNING rev").Scan(&t.rev); err != nil {
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
	return t.forgetRemovals()
}

// find returns the id of the note at a path and its columns in the table words;
// id is 0 if there is no such note.
func (t *writeTx) find(row *sql.Row) (id int64, old columns, err error) {
	var head, more, body string
	err = row.Scan(&id, &head, &more, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, columns{}, nil
	}
	return id, columnsOf(head, body, more), err
}

func (t *writeTx) remove(id int64) error {
	found, old, err := t.find(t.QueryRowContext(t.ctx, "SELECT id, head, more, body FROM notes WHERE id = ?", id))
	if err != nil || found == 0 {
		return err
	}
	for _, stmt := range []string{
		"DELETE FROM passages WHERE note = ?",
		"DELETE FROM notes WHERE id = ?",
	} {
		if err := t.exec(stmt, id); err != nil {
			return err
		}
	}
	if err := t.erase(id, old); err != nil {
		return err
	}
	return t.exec("INSERT INTO removed VALUES (?, ?)", id, t.rev)
}

// erase removes a note's words.
func (t *writeTx) erase(id int64, c columns) error {
	t.erased = true
	return t.exec("INSERT INTO words(words, rowid, head, body, head_stems, body_stems) VALUES ('delete', ?, ?, ?, ?, ?)",
		id, c.head, c.body, c.headStems, c.bodyStems)
}

func (t *writeTx) put(d *document) error {
	id, old, err := t.find(t.findNote.QueryRowContext(t.ctx, d.path))
	if err != nil {
		return err
	}
	head, more, modified := join(d.head), join(d.more), d.info.Modified.UnixNano()
	if id == 0 {
		var added sql.Result
		if added, err = t.addNote.ExecContext(t.ctx, d.path, t.rev, d.info.Size, modified, settled(d.info), d.hash[:], d.title,
			join(d.tags), join(d.concepts), join(d.about), head, more, d.body); err == nil {
			id, err = added.LastInsertId()
		}
	} else if err = t.erase(id, old); err == nil {
		err = t.exec(`
			UPDATE notes SET rev = ?, size = ?, modified = ?, settled = ?, hash = ?, title = ?, tags = ?, concepts = ?,
				about = ?, head = ?, more = ?, body = ?, embedded = '' WHERE id = ?`,
			t.rev, d.info.Size, modified, settled(d.info), d.hash[:], d.title, join(d.tags), join(d.concepts),
			join(d.about), head, more, d.body, id)
	}
	if err != nil {
		return err
	}
	c := columnsOf(head, d.body, more)
	_, err = t.addWords.ExecContext(t.ctx, id, c.head, c.body, c.headStems, c.bodyStems)
	return err
}

// maxRemovals limits the table removed. Processes that last looked before its
// first row read the whole index again.
const maxRemovals = 10_000

func (t *writeTx) forgetRemovals() error {
	var n int
	if err := t.QueryRowContext(t.ctx, "SELECT count(*) FROM removed").Scan(&n); err != nil || n <= maxRemovals {
		return err
	}
	return errors.Join(
		t.exec("DELETE FROM removed"),
		t.exec("UPDATE state SET floor = rev"),
	)
}

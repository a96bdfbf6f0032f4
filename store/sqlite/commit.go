package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// mayWrite is true unless the file was migrated to a format that this program must not
// write. If a statement changes nothing, [writer.mayWrite] finds out whether that is why.
const mayWrite = `(SELECT oldest_writer FROM identity) <= 11`

const (
	insertSession = `
		INSERT INTO tool_sessions (version, len, entries, head, bytes, branches, updated, period, state, title, conclusion, labels,
			expires, scope, dialect, context, created, owner, id, epoch)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ` + mayWrite + `
		ON CONFLICT (owner, id) DO NOTHING RETURNING key`

	// SQLite rewrites the entries of every index on a column that is set, changed
	// or not. So there are three statements: for a write that changes only the
	// position and time within a period, for one that changes other fields of a
	// cached session, and for any write.
	moveSession = `
		UPDATE tool_sessions SET version = ?, len = ?, entries = ?, head = ?, bytes = ?, updated = ?
		WHERE key = ? AND epoch = ? AND version = ? AND len = ? AND head = ? AND ` + mayWrite
	changeSession = `
		UPDATE tool_sessions
		SET version = ?, len = ?, entries = ?, head = ?, bytes = ?, branches = ?, updated = ?, period = ?, state = ?, title = ?,
			conclusion = ?, labels = ?, expires = ?
		WHERE key = ? AND epoch = ? AND version = ? AND len = ? AND head = ? AND ` + mayWrite
	replaceSession = `
		UPDATE tool_sessions
		SET version = ?, len = ?, entries = ?, head = ?, bytes = ?, branches = ?, updated = ?, period = ?, state = ?, title = ?,
			conclusion = ?, labels = ?, expires = ?, scope = ?, dialect = ?, context = ?, created = ?
		WHERE owner = ? AND id = ? AND epoch = ? AND version = ? AND len = ? AND head = ? AND ` + mayWrite + `
		RETURNING key`

	insertThought = `
		INSERT INTO thoughts (session, seq, number, total, text, more, after, at, place, salt, hash, note, branch,
			branch_from, revises, revision, supersedes, extend, request_key, request_digest, labels, masked)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertPlain = `
		INSERT INTO thoughts (session, seq, number, total, text, more, after, at, place, salt, hash, plain)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`
	insertEntry = `
		INSERT INTO entries (session, place, kind, at, salt, hash, body, masked) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

	insertTouched = `INSERT INTO touched (session) VALUES (?)`
	trimTouched   = `DELETE FROM touched WHERE id <= ?`
)

// Commit implements [sequent.Store]. It stores the batch in one transaction.
func (s *Store) Commit(ctx context.Context, batch []*sequent.Write) error {
	if len(batch) == 0 {
		return s.wrap(ctx.Err())
	}
	changed := make([]sequent.Key, 0, len(batch))
	thoughts := 0
	err := s.transact(ctx, func(w *writer) error {
		changed, thoughts = changed[:0], 0
		for _, wr := range batch {
			stored, err := w.apply(wr)
			if err != nil {
				return err
			}
			if stored {
				changed = append(changed, wr.Header.Key)
				thoughts += len(wr.Entries) - record.Others(wr.Entries)
			}
		}
		return nil
	})
	if err != nil {
		return s.wrap(err)
	}
	if len(changed) > 0 {
		s.feed.Written(changed...)
		s.scheduleIndexing(thoughts)
	}
	return nil
}

// scheduleIndexing tells the indexer of a commit with a number of thoughts.
func (s *Store) scheduleIndexing(thoughts int) {
	if s.index != nil {
		s.index.schedule.Committed(max(thoughts, 1))
	}
}

// apply stores one write, rebasing it at most once. If only this write is refused,
// nothing of it is stored and the reason is in wr.Err.
func (w *writer) apply(wr *sequent.Write) (stored bool, err error) {
	for range 2 {
		if wr.Err = record.CheckSize(wr, maxThoughtBytes); wr.Err != nil {
			return false, nil
		}
		stored, err := w.put(wr)
		if stored || err != nil {
			return stored, err
		}
		if err := w.mayWrite(context.Background()); err != nil {
			return false, err
		}
		now, exists, tail, err := w.current(wr)
		if err != nil {
			return false, err
		}
		if wr.Rebase == nil {
			break
		}
		if !wr.Rebase(now, exists, tail) {
			return false, nil
		}
	}
	wr.Err = sequent.ErrConflict
	return false, nil
}

// put stores the write if its session is still at wr.Base, and reports whether it
// did.
func (w *writer) put(wr *sequent.Write) (bool, error) {
	h := &wr.Header
	key, ok, err := w.putHeader(h, wr.Base)
	if err != nil || !ok {
		delete(w.cache, h.Key)
		return false, err
	}
	if len(w.cache) >= maxCached {
		clear(w.cache)
	}
	w.cache[h.Key] = row{key, *h}
	for i := range wr.Entries {
		if err := w.putEntry(key, &wr.Entries[i]); err != nil {
			return false, err
		}
	}
	if len(wr.Entries) == record.Others(wr.Entries) {
		return true, w.touch(key)
	}
	return true, nil
}

// keptTouched is the number of rows that the table touched keeps, at least.
const keptTouched = 2 * maxReported

// touch records a change of a session that adds no thoughts.
func (w *writer) touch(session int64) error {
	id, err := w.insertTouched.insert(session)
	if err != nil {
		return err
	}
	w.last.touched, w.added.touched = id, w.added.touched+1
	if id%1000 == 0 {
		_, err = w.trimTouched.exec(id - keptTouched)
	}
	return err
}

// putHeader stores the header and returns the session's key. If the session is not
// at base, ok is false.
func (w *writer) putHeader(h *sequent.Header, base sequent.Position) (key int64, ok bool, err error) {
	version, length, entries, branches := int64(h.Version), int64(h.Len), int64(h.Entries), int64(h.Branches)
	updated, created := record.Micros(h.Updated), record.Micros(h.Created)
	head, baseHead := record.Hash(&h.Head), record.Hash(&base.Head)
	old, cached := w.cache[h.Key]
	cached = cached && base.Version > 0 && old.header.Position() == base && record.SameOrigin(&old.header, h)
	switch {
	case cached && record.OnlyMoved(&old.header, h):
		n, err := w.moveSession.exec(version, length, entries, head, h.Bytes, updated, old.key, base.Epoch, int64(base.Version), int64(base.Len), baseHead)
		return old.key, n > 0, err
	case cached:
		n, err := w.changeSession.exec(version, length, entries, head, h.Bytes, branches, updated, record.Period(updated), string(h.State), h.Title,
			h.Conclusion, record.Labels(h.Labels), packExpiry(h.Expires),
			old.key, base.Epoch, int64(base.Version), int64(base.Len), baseHead)
		return old.key, n > 0, err
	case base.Version == 0:
		return w.insertSession.key(version, length, entries, head, h.Bytes, branches, updated, record.Period(updated), string(h.State), h.Title,
			h.Conclusion, record.Labels(h.Labels), packExpiry(h.Expires), h.Scope, h.Dialect, record.Context(&h.Context), created, h.Owner, string(h.ID), h.Epoch)
	}
	return w.replaceSession.key(version, length, entries, head, h.Bytes, branches, updated, record.Period(updated), string(h.State), h.Title,
		h.Conclusion, record.Labels(h.Labels), packExpiry(h.Expires), h.Scope, h.Dialect, record.Context(&h.Context), created,
		h.Owner, string(h.ID), base.Epoch, int64(base.Version), int64(base.Len), baseHead)
}

func (w *writer) putEntry(session int64, e *sequent.Entry) error {
	t := &e.Thought
	seq, number, total, after, at := int64(t.Seq), int64(t.Number), int64(t.Total), int64(t.After), record.Micros(e.At)
	place, salt, hash := int64(e.Place), record.Salt(&e.Salt), record.Hash(&e.Hash)
	if e.Kind != sequent.KindThought {
		_, err := w.insertEntry.exec(session, place, string(e.Kind), at, salt, hash, record.Body(e.Body), record.Masked(e.Masked))
		return err
	}
	var id int64
	var err error
	if record.Plain(e) {
		id, err = w.insertPlain.insert(session, seq, number, total, t.Text, t.More, after, at, place, salt, hash)
	} else {
		id, err = w.insertThought.insert(session, seq, number, total, t.Text, t.More, after, at, place, salt, hash,
			t.Note, t.Branch, packRef(t.From), packRef(t.Revises), t.Revision, int64(t.Supersedes), t.Extend,
			t.Request.Key, t.Request.Digest, record.Labels(t.Labels), record.Masked(e.Masked))
	}
	w.last.thoughts, w.added.thoughts = id, w.added.thoughts+1
	return err
}

// current returns the arguments of wr.Rebase: the session as it is now.
func (w *writer) current(wr *sequent.Write) (now sequent.Header, exists bool, tail []sequent.Entry, err error) {
	ctx := context.Background()
	key, now, err := scanHeader(w.selectHeader.QueryRowContext(ctx, wr.Header.Owner, wr.Header.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return sequent.Header{}, false, nil, nil
	}
	if err != nil {
		return now, true, nil, err
	}
	w.cache[now.Key] = row{key, now}
	tail, err = readLog(ctx, w.selectThoughts, w.selectEntries, key, &now, wr.Base, 0)
	return now, true, tail, err
}

// maxThoughtBytes is below SQLite's limit of 10^9 bytes for a row.
const maxThoughtBytes = 500 << 20

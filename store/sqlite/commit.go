package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const (
	insertSession = `
		INSERT INTO tool_sessions (version, len, branches, updated, period, state, title, conclusion, labels, expires,
			scope, dialect, created, owner, id, epoch)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (owner, id) DO NOTHING RETURNING key`

	// SQLite rewrites the entries of every index on a column that is set, changed
	// or not. So there are three statements: for a write that changes only the
	// position and time within a period, for one that changes other fields of a
	// cached session, and for any write.
	moveSession = `
		UPDATE tool_sessions SET version = ?, len = ?, updated = ?
		WHERE key = ? AND epoch = ? AND version = ? AND len = ?`
	changeSession = `
		UPDATE tool_sessions
		SET version = ?, len = ?, branches = ?, updated = ?, period = ?, state = ?, title = ?, conclusion = ?, labels = ?, expires = ?
		WHERE key = ? AND epoch = ? AND version = ? AND len = ?`
	replaceSession = `
		UPDATE tool_sessions
		SET version = ?, len = ?, branches = ?, updated = ?, period = ?, state = ?, title = ?, conclusion = ?, labels = ?, expires = ?,
			scope = ?, dialect = ?, created = ?
		WHERE owner = ? AND id = ? AND epoch = ? AND version = ? AND len = ?
		RETURNING key`

	insertThought = `
		INSERT INTO thoughts (session, seq, number, total, text, more, after, at, note, branch, branch_from, revises,
			revision, supersedes, extend, request_key, request_digest, labels)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertPlain = `
		INSERT INTO thoughts (session, seq, number, total, text, more, after, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
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
				thoughts += len(wr.Thoughts)
			}
		}
		return nil
	})
	if err != nil {
		return s.wrap(err)
	}
	s.notify(changed, thoughts)
	return nil
}

// notify wakes waiters in this process and the indexer.
func (s *Store) notify(changed []sequent.Key, thoughts int) {
	if len(changed) == 0 {
		return
	}
	for _, k := range changed {
		s.hub.Wake(k)
	}
	s.hub.Wake(sequent.Key{})
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
	for i := range wr.Thoughts {
		if err := w.putThought(key, &wr.Thoughts[i]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// putHeader stores the header and returns the session's key. If the session is not
// at base, ok is false.
func (w *writer) putHeader(h *sequent.Header, base sequent.Position) (key int64, ok bool, err error) {
	version, length, branches, updated, created := int64(h.Version), int64(h.Len), int64(h.Branches), record.Micros(h.Updated), record.Micros(h.Created)
	old, cached := w.cache[h.Key]
	cached = cached && base.Version > 0 && old.header.Position() == base && record.SameOrigin(&old.header, h)
	switch {
	case cached && record.OnlyMoved(&old.header, h):
		n, err := w.moveSession.exec(version, length, updated, old.key, base.Epoch, int64(base.Version), int64(base.Len))
		return old.key, n > 0, err
	case cached:
		n, err := w.changeSession.exec(version, length, branches, updated, record.Period(updated), string(h.State), h.Title, h.Conclusion,
			record.Labels(h.Labels), packExpiry(h.Expires), old.key, base.Epoch, int64(base.Version), int64(base.Len))
		return old.key, n > 0, err
	case base.Version == 0:
		return w.insertSession.key(version, length, branches, updated, record.Period(updated), string(h.State), h.Title, h.Conclusion,
			record.Labels(h.Labels), packExpiry(h.Expires), h.Scope, h.Dialect, created, h.Owner, string(h.ID), h.Epoch)
	}
	return w.replaceSession.key(version, length, branches, updated, record.Period(updated), string(h.State), h.Title, h.Conclusion,
		record.Labels(h.Labels), packExpiry(h.Expires), h.Scope, h.Dialect, created,
		h.Owner, string(h.ID), base.Epoch, int64(base.Version), int64(base.Len))
}

func (w *writer) putThought(session int64, t *sequent.Thought) (err error) {
	seq, number, total, after, at := int64(t.Seq), int64(t.Number), int64(t.Total), int64(t.After), record.Micros(t.At)
	if record.Plain(t) {
		_, err = w.insertPlain.exec(session, seq, number, total, t.Text, t.More, after, at)
	} else {
		_, err = w.insertThought.exec(session, seq, number, total, t.Text, t.More, after, at,
			t.Note, t.Branch, packRef(t.From), packRef(t.Revises), t.Revision, int64(t.Supersedes), t.Extend,
			t.Request.Key, t.Request.Digest, record.Labels(t.Labels))
	}
	return err
}

// current returns the arguments of wr.Rebase: the session as it is now.
func (w *writer) current(wr *sequent.Write) (now sequent.Header, exists bool, tail []sequent.Thought, err error) {
	ctx := context.Background()
	key, now, err := scanHeader(w.selectHeader.QueryRowContext(ctx, wr.Header.Owner, wr.Header.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return sequent.Header{}, false, nil, nil
	}
	if err != nil {
		return now, true, nil, err
	}
	w.cache[now.Key] = row{key, now}
	tail, err = readThoughts(ctx, w.selectThoughts, key, &now, wr.Base)
	return now, true, tail, err
}

// maxThoughtBytes is below SQLite's limit of 10^9 bytes for a row.
const maxThoughtBytes = 500 << 20

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
		INSERT INTO tool_sessions (version, len, updated, period, state, title, conclusion, labels, expires,
			scope, dialect, created, owner, id, epoch)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (owner, id) DO NOTHING RETURNING key`

	// SQLite rewrites the entries of every index on a column that is set,
	// changed or not. So there are three: for an append like the one before,
	// for one that changes what may change, and for whatever it may be.
	moveSession = `
		UPDATE tool_sessions SET version = ?, len = ?, updated = ?
		WHERE key = ? AND epoch = ? AND version = ? AND len = ?`
	changeSession = `
		UPDATE tool_sessions
		SET version = ?, len = ?, updated = ?, period = ?, state = ?, title = ?, conclusion = ?, labels = ?, expires = ?
		WHERE key = ? AND epoch = ? AND version = ? AND len = ?`
	replaceSession = `
		UPDATE tool_sessions
		SET version = ?, len = ?, updated = ?, period = ?, state = ?, title = ?, conclusion = ?, labels = ?, expires = ?,
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

// Commit implements [sequent.Store]. The batch is one transaction.
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
	s.announce(changed, thoughts)
	return nil
}

// announce tells those in this process who wait, and the indexer.
func (s *Store) announce(changed []sequent.Key, thoughts int) {
	if len(changed) == 0 {
		return
	}
	for _, k := range changed {
		s.hub.Wake(k)
	}
	s.hub.Wake(sequent.Key{})
	if s.index != nil {
		s.index.wrote(max(thoughts, 1))
	}
}

// apply makes one write. An error of the write alone goes into it, and comes
// before anything of it is stored.
func (w *writer) apply(wr *sequent.Write) (stored bool, err error) {
	for range 2 {
		if wr.Err = record.Check(wr, tooLong); wr.Err != nil {
			return false, nil
		}
		stored, err := w.put(wr)
		if stored || err != nil {
			return stored, err
		}
		now, exists, tail, err := w.now(wr)
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
	wr.Err = sequent.ErrConflict // not even what it was rebased on is there
	return false, nil
}

// put stores the write if its session is at its base.
func (w *writer) put(wr *sequent.Write) (bool, error) {
	h := &wr.Header
	key, ok, err := w.putHeader(h, wr.Base)
	if err != nil || !ok {
		delete(w.known, h.Key)
		return false, err
	}
	if len(w.known) >= maxKnown {
		clear(w.known)
	}
	w.known[h.Key] = row{key, *h}
	for i := range wr.Thoughts {
		if err := w.putThought(key, &wr.Thoughts[i]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// putHeader returns the session's key; ok is false if it is not at base.
func (w *writer) putHeader(h *sequent.Header, base sequent.Position) (key int64, ok bool, err error) {
	version, length, updated, created := int64(h.Version), int64(h.Len), record.Micros(h.Updated), record.Micros(h.Created)
	was, known := w.known[h.Key]
	known = known && base.Version > 0 && was.header.Position() == base && record.SameOrigin(&was.header, h)
	switch {
	case known && record.OnlyMoved(&was.header, h):
		n, err := w.moveSession.exec(version, length, updated, was.key, base.Epoch, int64(base.Version), int64(base.Len))
		return was.key, n > 0, err
	case known:
		n, err := w.changeSession.exec(version, length, updated, record.Period(updated), string(h.State), h.Title, h.Conclusion,
			record.Labels(h.Labels), packExpiry(h.Expires), was.key, base.Epoch, int64(base.Version), int64(base.Len))
		return was.key, n > 0, err
	case base.Version == 0:
		return w.insertSession.key(version, length, updated, record.Period(updated), string(h.State), h.Title, h.Conclusion,
			record.Labels(h.Labels), packExpiry(h.Expires), h.Scope, h.Dialect, created, h.Owner, string(h.ID), h.Epoch)
	}
	return w.replaceSession.key(version, length, updated, record.Period(updated), string(h.State), h.Title, h.Conclusion,
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

// now returns what Rebase is to know.
func (w *writer) now(wr *sequent.Write) (now sequent.Header, exists bool, tail []sequent.Thought, err error) {
	ctx := context.Background()
	key, now, err := scanHeader(w.selectHeader.QueryRowContext(ctx, wr.Header.Owner, wr.Header.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return sequent.Header{}, false, nil, nil
	}
	if err != nil {
		return now, true, nil, err
	}
	w.known[now.Key] = row{key, now}
	tail, err = readThoughts(ctx, w.selectThoughts, key, &now, wr.Base)
	return now, true, tail, err
}

// tooLong is less than what SQLite takes in one row.
const tooLong = 500 << 20

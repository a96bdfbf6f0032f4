package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
)

const (
	insertSession = `
		INSERT INTO tool_sessions (owner, id, epoch, version, len, state, title, scope, dialect,
			conclusion, labels, created, updated, expires)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (owner, id) DO NOTHING RETURNING key`

	// What an append leaves alone is compared instead of set, so that the
	// indexes on it are left alone too.
	updateSession = `
		UPDATE tool_sessions
		SET version = ?, len = ?, state = ?, title = ?, conclusion = ?, labels = ?, updated = ?, expires = ?
		WHERE owner = ? AND id = ? AND epoch = ? AND version = ? AND len = ?
			AND scope = ? AND dialect = ? AND created = ?
		RETURNING key`

	replaceSession = `
		UPDATE tool_sessions
		SET version = ?, len = ?, state = ?, title = ?, conclusion = ?, labels = ?, updated = ?, expires = ?,
			scope = ?, dialect = ?, created = ?
		WHERE owner = ? AND id = ? AND epoch = ? AND version = ? AND len = ?
		RETURNING key`

	insertThought = `
		INSERT INTO thoughts (session, seq, number, total, text, note, branch, branch_from, revises,
			revision, more, extend, request_key, request_digest, labels, after, supersedes, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// Commit implements [sequent.Store]. The batch is one transaction.
func (s *Store) Commit(ctx context.Context, batch []*sequent.Write) error {
	if len(batch) == 0 {
		return s.wrap(ctx.Err())
	}
	changed := make([]sequent.Key, 0, len(batch))
	err := s.transact(ctx, func(w *writer) error {
		changed = changed[:0]
		for _, wr := range batch {
			stored, err := w.apply(wr)
			if err != nil {
				return err
			}
			if stored {
				changed = append(changed, wr.Header.Key)
			}
		}
		return nil
	})
	if err != nil {
		return s.wrap(err)
	}
	s.announce(changed)
	return nil
}

// announce tells those in this process who wait, and the indexer.
func (s *Store) announce(changed []sequent.Key) {
	if len(changed) == 0 {
		return
	}
	for _, k := range changed {
		s.hub.Wake(k)
	}
	s.hub.Wake(sequent.Key{})
	if s.index != nil {
		s.index.poke()
	}
}

// apply makes one write. An error of the write alone goes into it, and comes
// before anything of it is stored.
func (w *writer) apply(wr *sequent.Write) (stored bool, err error) {
	for range 2 {
		if wr.Err = check(wr); wr.Err != nil {
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
	ctx := context.Background()
	h, base := &wr.Header, wr.Base
	labels, created, updated, expires := packLabels(h.Labels), pack(h.Created), pack(h.Updated), packExpiry(h.Expires)
	var key int64
	var err error
	if base.Version == 0 {
		err = w.insertSession.QueryRowContext(ctx, h.Owner, h.ID, h.Epoch, h.Version, h.Len, h.State, h.Title,
			h.Scope, h.Dialect, h.Conclusion, labels, created, updated, expires).Scan(&key)
	} else {
		err = w.updateSession.QueryRowContext(ctx, h.Version, h.Len, h.State, h.Title, h.Conclusion, labels,
			updated, expires, h.Owner, h.ID, base.Epoch, base.Version, base.Len,
			h.Scope, h.Dialect, created).Scan(&key)
		if errors.Is(err, sql.ErrNoRows) {
			err = w.replaceSession.QueryRowContext(ctx, h.Version, h.Len, h.State, h.Title, h.Conclusion, labels,
				updated, expires, h.Scope, h.Dialect, created,
				h.Owner, h.ID, base.Epoch, base.Version, base.Len).Scan(&key)
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for i := range wr.Thoughts {
		t := &wr.Thoughts[i]
		if _, err := w.insertThought.ExecContext(ctx, key, t.Seq, t.Number, t.Total, t.Text, t.Note, t.Branch,
			packRef(t.From), packRef(t.Revises), t.Revision, t.More, t.Extend,
			t.Request.Key, t.Request.Digest, packLabels(t.Labels), t.After, t.Supersedes, pack(t.At)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// now returns what Rebase is to know.
func (w *writer) now(wr *sequent.Write) (now sequent.Header, exists bool, tail []sequent.Thought, err error) {
	ctx := context.Background()
	key, now, err := scanHeader(w.selectHeader.QueryRowContext(ctx, wr.Header.Owner, wr.Header.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return sequent.Header{}, false, nil, nil
	}
	if err == nil {
		tail, err = readThoughts(ctx, w.selectThoughts, key, &now, wr.Base)
	}
	return now, true, tail, err
}

// tooLong is less than what SQLite takes in one row.
const tooLong = 500 << 20

// check refuses a write that contradicts itself, or that would fail half-way
// and take its batch with it.
func check(wr *sequent.Write) error {
	h, base := &wr.Header, wr.Base
	if base.Version == 0 {
		base.Len = 0
	}
	fault := func(format string, args ...any) error {
		return &sequent.Error{
			Code: sequent.CodeInternal, Msg: "a write to the store contradicts itself",
			Err: fmt.Errorf(format, args...),
		}
	}
	switch {
	case base.Version != 0 && base.Epoch != h.Epoch:
		return fault("it changes the epoch from %d to %d", base.Epoch, h.Epoch)
	case h.Len != base.Len+len(wr.Thoughts):
		return fault("%d thoughts lead from %d to %d", len(wr.Thoughts), base.Len, h.Len)
	}
	if err := checkLabels(h.Labels); err != nil {
		return err
	}
	for i := range wr.Thoughts {
		t := &wr.Thoughts[i]
		if t.Seq != base.Len+i+1 {
			return fault("thought %d has the sequence number %d", base.Len+i+1, t.Seq)
		}
		if n := len(t.Text) + len(t.Note); n > tooLong {
			return &sequent.Error{
				Code: sequent.CodeLimitExceeded, Field: "text",
				Msg: fmt.Sprintf("a thought has %d bytes, the store takes %d", n, tooLong),
				Fix: "split it into several thoughts",
			}
		}
		if err := checkLabels(t.Labels); err != nil {
			return err
		}
	}
	return nil
}

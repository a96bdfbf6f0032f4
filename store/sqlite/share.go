package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const selectShares = `SELECT h.hash, s.owner, s.id, h.created, h.expires, h.author, h.mask FROM shares h JOIN tool_sessions s ON s.key = h.session `

// AddShare implements [sequent.ShareStore].
func (s *Store) AddShare(ctx context.Context, share sequent.Share) error {
	return s.wrap(s.transact(ctx, func(w *writer) error {
		ctx := context.Background()
		if err := w.mayWrite(ctx); err != nil {
			return err
		}
		if _, err := w.conn.ExecContext(ctx, `DELETE FROM shares WHERE expires <= ?`, record.Micros(share.Created)); err != nil {
			return err
		}
		added, err := w.conn.ExecContext(ctx, `
			INSERT INTO shares (hash, session, created, expires, author, mask)
			SELECT ?, key, ?, ?, ?, ? FROM tool_sessions WHERE owner = ? AND id = ?`,
			share.Hash[:], record.Micros(share.Created), record.Micros(share.Expires), share.By, share.Mask, share.Key.Owner, string(share.Key.ID))
		if err != nil {
			return err
		}
		n, err := added.RowsAffected()
		if err == nil && n == 0 {
			err = record.NotFound(share.Key.ID)
		}
		return err
	}))
}

// Shares implements [sequent.ShareStore].
func (s *Store) Shares(ctx context.Context, q sequent.ShareQuery) ([]sequent.Share, error) {
	where, args := `WHERE h.expires > ?`, []any{record.Micros(q.Now)}
	if !q.AllOwners {
		where, args = where+` AND s.owner = ?`, append(args, q.Owner)
	}
	if q.Session != "" {
		where, args = where+` AND s.id = ?`, append(args, string(q.Session))
	}
	return s.readShares(ctx, where+` ORDER BY h.created DESC, h.hash`, args...)
}

// FindShare implements [sequent.ShareStore].
func (s *Store) FindShare(ctx context.Context, hash [32]byte) (sequent.Share, error) {
	list, err := s.readShares(ctx, `WHERE h.hash = ?`, hash[:])
	switch {
	case err != nil:
		return sequent.Share{}, err
	case len(list) == 0:
		return sequent.Share{}, sequent.NoShare()
	}
	return list[0], nil
}

func (s *Store) readShares(ctx context.Context, where string, args ...any) (list []sequent.Share, err error) {
	err = s.each(ctx, selectShares+where, args, func(rows *sql.Rows) error {
		var hash []byte
		var k sequent.Key
		var created, expires int64
		var by, mask string
		if err := rows.Scan(&hash, &k.Owner, &k.ID, &created, &expires, &by, &mask); err != nil {
			return err
		}
		share, err := record.Share(hash, k, created, expires)
		share.By, share.Mask = by, mask
		list = append(list, share)
		return err
	})
	return list, s.wrap(err)
}

// RemoveShare implements [sequent.ShareStore].
func (s *Store) RemoveShare(ctx context.Context, share sequent.Share) error {
	return s.wrap(s.transact(ctx, func(w *writer) error {
		if err := w.mayWrite(ctx); err != nil {
			return err
		}
		_, err := w.conn.ExecContext(context.Background(), `
			DELETE FROM shares WHERE hash = ? AND session IN (SELECT key FROM tool_sessions WHERE owner = ?)`, share.Hash[:], share.Key.Owner)
		return err
	}))
}

// AddTicket implements [sequent.ShareStore].
func (s *Store) AddTicket(ctx context.Context, t sequent.Ticket) error {
	return s.wrap(s.transact(ctx, func(w *writer) error {
		ctx := context.Background()
		if err := w.mayWrite(ctx); err != nil {
			return err
		}
		if _, err := w.conn.ExecContext(ctx, `DELETE FROM tickets WHERE expires <= ?`, record.Micros(t.Created)); err != nil {
			return err
		}
		_, err := w.conn.ExecContext(ctx, `INSERT INTO tickets (hash, sealed, created, expires) VALUES (?, ?, ?, ?)`,
			t.Hash[:], t.Sealed, record.Micros(t.Created), record.Micros(t.Expires))
		return err
	}))
}

// TakeTicket implements [sequent.ShareStore].
func (s *Store) TakeTicket(ctx context.Context, hash [32]byte) (sequent.Ticket, error) {
	t := sequent.Ticket{Hash: hash}
	err := s.transact(ctx, func(w *writer) error {
		ctx := context.Background()
		if err := w.mayWrite(ctx); err != nil {
			return err
		}
		var created, expires int64
		err := w.conn.QueryRowContext(ctx, `DELETE FROM tickets WHERE hash = ? RETURNING sealed, created, expires`, hash[:]).Scan(&t.Sealed, &created, &expires)
		if errors.Is(err, sql.ErrNoRows) {
			return sequent.NoTicket()
		}
		t.Created, t.Expires = record.Time(created), record.Time(expires)
		return err
	})
	return t, s.wrap(err)
}

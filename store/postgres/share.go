package postgres

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

const selectShares = `SELECT h.hash, s.owner, s.id, h.created, h.expires, h.author, h.mask FROM schema.shares h JOIN schema.tool_sessions s ON s.key = h.session `

// AddShare implements [sequent.ShareStore].
func (s *Store) AddShare(ctx context.Context, share sequent.Share) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	p := s.part(share.Key.Owner)
	err := s.retry(context.WithoutCancel(ctx), isRetryable, func(ctx context.Context) error {
		return inTx(ctx, s.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
			var key int64
			err := tx.QueryRow(ctx, p.sql(lockSession), pack(share.Key.Owner), pack(string(share.Key.ID)), 0).Scan(&key)
			if isNoRows(err) {
				return record.NotFound(share.Key.ID)
			}
			if err != nil {
				return err
			}
			if err := p.checkWriter(ctx, tx); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, p.sql(`DELETE FROM schema.shares WHERE expires <= $1`), record.Micros(share.Created)); err != nil {
				return err
			}
			// A repetition after a lost connection finds the share that it has added.
			_, err = tx.Exec(ctx, p.sql(`
				INSERT INTO schema.shares (hash, session, created, expires, author, mask) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (hash) DO NOTHING`),
				share.Hash[:], key, record.Micros(share.Created), record.Micros(share.Expires), pack(share.By), pack(share.Mask))
			return err
		})
	})
	if err != nil {
		return s.wrap(ctx, writeError(err))
	}
	return nil
}

// Shares implements [sequent.ShareStore].
func (s *Store) Shares(ctx context.Context, q sequent.ShareQuery) ([]sequent.Share, error) {
	parts := s.parts
	if !q.AllOwners {
		parts = []*part{s.part(q.Owner)}
	}
	var list []sequent.Share
	for _, p := range parts {
		found, err := s.readShares(ctx, p, `WHERE h.expires > $1 AND ($2 OR s.owner = $3) AND ($4 = '' OR s.id = $4) ORDER BY h.created DESC, h.hash`,
			record.Micros(q.Now), q.AllOwners, pack(q.Owner), pack(string(q.Session)))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	slices.SortFunc(list, sequent.CompareShares)
	return list, nil
}

// FindShare implements [sequent.ShareStore]. A hash does not say of which owner the share is,
// so that it is looked for in all parts.
func (s *Store) FindShare(ctx context.Context, hash [32]byte) (sequent.Share, error) {
	for _, p := range s.parts {
		list, err := s.readShares(ctx, p, `WHERE h.hash = $1`, hash[:])
		if err != nil {
			return sequent.Share{}, err
		}
		if len(list) > 0 {
			return list[0], nil
		}
	}
	return sequent.Share{}, sequent.NoShare()
}

func (s *Store) readShares(ctx context.Context, p *part, where string, args ...any) (list []sequent.Share, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, p.sql(selectShares+where), args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (sequent.Share, error) {
			var hash []byte
			var owner, id, by, mask string
			var created, expires int64
			if err := row.Scan(&hash, &owner, &id, &created, &expires, &by, &mask); err != nil {
				return sequent.Share{}, err
			}
			if err := unpackAll(&owner, &id, &by, &mask); err != nil {
				return sequent.Share{}, err
			}
			share, err := record.Share(hash, sequent.Key{Owner: owner, ID: sequent.ID(id)}, created, expires)
			share.By, share.Mask = by, mask
			return share, err
		})
		return err
	})
	return list, err
}

// RemoveShare implements [sequent.ShareStore].
func (s *Store) RemoveShare(ctx context.Context, share sequent.Share) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	p := s.part(share.Key.Owner)
	err := s.retry(ctx, isRetryable, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, p.sql(`
			DELETE FROM schema.shares WHERE hash = $1 AND session IN (SELECT key FROM schema.tool_sessions WHERE owner = $2)`),
			share.Hash[:], pack(share.Key.Owner))
		return err
	})
	if err != nil {
		return s.wrap(ctx, writeError(err))
	}
	return nil
}

// ticketPart returns the part that keeps the ticket with a hash.
func (s *Store) ticketPart(hash [32]byte) *part { return s.part(hex.EncodeToString(hash[:])) }

// AddTicket implements [sequent.ShareStore].
func (s *Store) AddTicket(ctx context.Context, t sequent.Ticket) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	p := s.ticketPart(t.Hash)
	err := s.retry(ctx, isRetryable, func(ctx context.Context) error {
		return inTx(ctx, s.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
			if err := p.checkWriter(ctx, tx); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, p.sql(`DELETE FROM schema.tickets WHERE expires <= $1`), record.Micros(t.Created)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, p.sql(`INSERT INTO schema.tickets (hash, sealed, created, expires) VALUES ($1, $2, $3, $4) ON CONFLICT (hash) DO NOTHING`),
				t.Hash[:], t.Sealed, record.Micros(t.Created), record.Micros(t.Expires))
			return err
		})
	})
	if err != nil {
		return s.wrap(ctx, writeError(err))
	}
	return nil
}

// TakeTicket implements [sequent.ShareStore].
func (s *Store) TakeTicket(ctx context.Context, hash [32]byte) (sequent.Ticket, error) {
	t := sequent.Ticket{Hash: hash}
	if err := s.checkOpen(ctx); err != nil {
		return t, err
	}
	p := s.ticketPart(hash)
	err := s.retry(ctx, isRetryable, func(ctx context.Context) error {
		var created, expires int64
		err := s.pool.QueryRow(ctx, p.sql(`DELETE FROM schema.tickets WHERE hash = $1 RETURNING sealed, created, expires`), hash[:]).Scan(&t.Sealed, &created, &expires)
		if isNoRows(err) {
			return sequent.NoTicket()
		}
		t.Created, t.Expires = record.Time(created), record.Time(expires)
		return err
	})
	if err != nil {
		return t, s.wrap(ctx, writeError(err))
	}
	return t, nil
}

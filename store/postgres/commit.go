package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Commit implements [sequent.Store].
//
// It stores the writes with statements that it sends at once: one transaction and one round
// trip, however many parts they are of; on Citus, a transaction for each part. The statements
// leave out writes whose session has changed since their base or is locked by another process.
// Those are skipped, as [sequent.Write.Try] allows, or follow one by one, each in a
// transaction that locks the session while Rebase is called.
func (s *Store) Commit(ctx context.Context, batch []*sequent.Write) error {
	if err := s.checkOpen(ctx); err != nil || len(batch) == 0 {
		return err
	}
	var valid []*sequent.Write
	for _, w := range batch {
		if w.Err = record.CheckSize(w, maxThoughtBytes); w.Err == nil {
			valid = append(valid, w)
		}
	}
	changed, err := s.commitPieces(ctx, s.groups(s.divide(valid)))
	s.report(changed)
	s.reportFailed(batch, err)
	return s.wrap(ctx, err)
}

// commitRounds stores several rounds in one transaction, and returns the writes
// that were stored.
func (s *Store) commitRounds(ctx context.Context, rounds [][]*sequent.Write) (changed []*sequent.Write, err error) {
	ctx = context.WithoutCancel(ctx)
	err = s.retry(ctx, isRetryable, func(ctx context.Context) error {
		changed = nil
		options := pgx.TxOptions{BeginQuery: fmt.Sprintf("BEGIN; SET LOCAL lock_timeout = %d", s.statementTimeout.Milliseconds())}
		return inTx(ctx, s.commits, options, func(tx pgx.Tx) error {
			for _, round := range rounds {
				rows, err := s.store(ctx, tx, round)
				if err != nil {
					return err
				}
				for i, w := range round {
					stored := rows[i].key != 0
					if !stored {
						if stored, err = s.rebase(ctx, tx, w); err != nil {
							return err
						}
					}
					if stored {
						changed = append(changed, w)
					}
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, writeError(err)
	}
	return changed, nil
}

// rebase locks the session until the end of the transaction, rebases the write if the session
// is not at its base, and stores it. It reports whether the write was stored; if it was
// refused, the reason is in w.Err.
func (s *Store) rebase(ctx context.Context, tx pgx.Tx, w *sequent.Write) (bool, error) {
	const maxAttempts = 5 // more than one only if others begin or delete the session
	p := s.part(w.Header.Owner)
	for range maxAttempts {
		now, tail, err := p.load(ctx, tx, w.Header.Key, w.Base, 0, true)
		exists := err == nil
		if err != nil && !errors.Is(err, sequent.ErrNotFound) {
			if errors.Is(err, errDeleted) {
				continue
			}
			return false, err
		}
		if exists && now.Position() != w.Base || !exists && w.Base.Version > 0 {
			if w.Rebase == nil {
				break
			}
			if !w.Rebase(now, exists, tail) {
				return false, nil
			}
		}
		if w.Err = record.CheckSize(w, maxThoughtBytes); w.Err != nil {
			return false, nil
		}
		rows, err := s.store(ctx, tx, []*sequent.Write{w})
		if err == nil && rows[0].key == 0 {
			err = p.checkWriter(ctx, tx)
			if err == nil && exists && s.distributed {
				err = movedError{p} // after the session was locked
			}
		}
		if err != nil || rows[0].key != 0 {
			return err == nil, err
		}
	}
	w.Err = sequent.ErrConflict
	return false, nil
}

// maxThoughtBytes is well below PostgreSQL's limit of 1 GB for a message.
const maxThoughtBytes = 200 << 20

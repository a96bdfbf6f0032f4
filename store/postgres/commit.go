package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Commit implements [sequent.Store].
//
// It stores a batch with one statement, which is one transaction and one round
// trip. The statement leaves out writes whose session has changed since their base
// or is locked by another process. They are skipped, as [sequent.Write.Try] allows,
// or follow one by one, each in a transaction that locks the session while Rebase is
// called.
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
	var changed []*sequent.Write
	var err error
	if rounds := split(valid); len(rounds) == 1 {
		changed, err = s.commitRound(ctx, rounds[0])
	} else if len(rounds) > 1 {
		changed, err = s.commitRounds(ctx, rounds)
	}
	s.report(changed)
	s.reportFailed(batch, err)
	return s.wrap(ctx, err)
}

// split splits writes into rounds in which each session occurs at most once,
// because a statement does not see its own changes. Each round is sorted by
// session, so that processes lock rows in the same order.
func split(batch []*sequent.Write) (rounds [][]*sequent.Write) {
	seen := make(map[sequent.Key]int, len(batch))
	for _, w := range batch {
		n := seen[w.Header.Key]
		seen[w.Header.Key]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], w)
	}
	for _, round := range rounds {
		slices.SortFunc(round, func(a, b *sequent.Write) int {
			return cmp.Or(cmp.Compare(a.Header.Owner, b.Header.Owner), cmp.Compare(a.Header.ID, b.Header.ID))
		})
	}
	return rounds
}

// commitRound stores one round and returns the writes that were stored. If it
// returns an error, none was.
func (s *Store) commitRound(ctx context.Context, round []*sequent.Write) (changed []*sequent.Write, err error) {
	// A cancelled commit would have an unknown outcome.
	ctx = context.WithoutCancel(ctx)
	stored, err := s.commitBatch(ctx, round)
	if err != nil {
		return nil, writeError(err)
	}
	for i, w := range round {
		switch {
		case stored[i]:
		case w.Try:
			w.Skipped = true
		default:
			stored[i], err = s.commitPatiently(ctx, w)
			if err != nil { // an error of this write only: others have been stored
				w.Err = s.wrap(ctx, writeError(err))
			}
		}
		if stored[i] {
			changed = append(changed, w)
		}
	}
	return changed, nil
}

// commitBatch stores the writes of a round whose sessions are at their bases and not
// locked, and reports which.
func (s *Store) commitBatch(ctx context.Context, round []*sequent.Write) (stored []bool, err error) {
	deadline := time.Now().Add(s.statementTimeout)
	for batch := round; ; {
		err = s.retry(ctx, isRetryable, func(ctx context.Context) (err error) {
			stored, err = s.commit(ctx, batch)
			return err
		})
		if err == nil {
			return append(stored, make([]bool, len(round)-len(batch))...), nil
		}
		if !isLocked(err) || time.Now().After(deadline) {
			return nil, err
		}
		// Another process may be inserting a session of the batch, so the new sessions
		// are left out. They follow the others.
		slices.SortStableFunc(round, func(a, b *sequent.Write) int {
			return cmp.Compare(min(b.Base.Version, 1), min(a.Base.Version, 1))
		})
		n := slices.IndexFunc(round, func(w *sequent.Write) bool { return w.Base.Version == 0 })
		if n == 0 {
			return make([]bool, len(round)), nil
		}
		if n > 0 {
			batch = round[:n]
		}
	}
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
				stored := stored(rows)
				for i, w := range round {
					if !stored[i] {
						if stored[i], err = s.rebase(ctx, tx, w); err != nil {
							return err
						}
					}
					if stored[i] {
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

// rebase locks the session until the end of the transaction, rebases the write if
// the session is not at its base, and stores it. It reports whether the write was stored; if it was refused, the reason
// is in w.Err.
func (s *Store) rebase(ctx context.Context, tx pgx.Tx, w *sequent.Write) (bool, error) {
	const maxAttempts = 5 // more than one only if others begin or delete the session
	for range maxAttempts {
		now, tail, err := load(ctx, tx, w.Header.Key, w.Base, 0, true)
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
			err = checkWriter(ctx, tx)
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

package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Commit implements [sequent.Store].
//
// A batch is one statement, and so one transaction and one round trip. Writes
// whose session has moved are left out of it, and then made one by one, each in
// a transaction that holds the session while Rebase is called.
func (s *Store) Commit(ctx context.Context, batch []*sequent.Write) error {
	if err := s.usable(ctx); err != nil || len(batch) == 0 {
		return err
	}
	var sound []*sequent.Write
	for _, w := range batch {
		if w.Err = record.Check(w, tooLong); w.Err == nil {
			sound = append(sound, w)
		}
	}
	var changed []*sequent.Write
	var err error
	if rounds := split(sound); len(rounds) == 1 {
		changed, err = s.commitRound(ctx, rounds[0])
	} else if len(rounds) > 1 {
		changed, err = s.commitRounds(ctx, rounds)
	}
	s.announce(changed)
	return s.wrap(ctx, err)
}

// split arranges writes so that no round has two of one session: a statement
// does not see what it does itself. Sessions are in the same order everywhere,
// so that processes wait for each other in one direction.
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

// commitRound stores writes of different sessions and returns those that were
// stored. An error means that none was.
func (s *Store) commitRound(ctx context.Context, round []*sequent.Write) (changed []*sequent.Write, err error) {
	// Once it is under way, the caller's context does not end it: the outcome
	// would be unknown.
	ctx = context.WithoutCancel(ctx)
	var stored []bool
	err = s.again(ctx, repeatable, func(ctx context.Context) (err error) {
		stored, err = s.commit(ctx, round)
		return err
	})
	if err != nil {
		return nil, outcome(err)
	}
	for i, w := range round {
		if !stored[i] {
			err := s.again(ctx, repeatable, func(ctx context.Context) error {
				return s.inTx(ctx, pgx.TxOptions{}, func(tx pgx.Tx) (err error) {
					stored[i], err = s.rebase(ctx, tx, w)
					return err
				})
			})
			if err != nil { // of this write alone: others are stored
				w.Err, stored[i] = s.wrap(ctx, outcome(err)), false
			}
		}
		if stored[i] {
			changed = append(changed, w)
		}
	}
	return changed, nil
}

// commitRounds stores writes of which some are of the same session, in one
// transaction.
func (s *Store) commitRounds(ctx context.Context, rounds [][]*sequent.Write) (changed []*sequent.Write, err error) {
	ctx = context.WithoutCancel(ctx)
	err = s.again(ctx, repeatable, func(ctx context.Context) error {
		changed = nil
		return s.inTx(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
			for _, round := range rounds {
				keys, err := s.store(ctx, tx, round)
				if err != nil {
					return err
				}
				stored := made(keys)
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
		return nil, outcome(err)
	}
	return changed, nil
}

// repeatable reports whether a transaction that failed may be tried again: it
// has stored nothing.
func repeatable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == "40P01" || e.Code == "40001") {
		return true
	}
	return harmless(err)
}

// rebase fits a write to the session as it is, which nobody else can change
// until the transaction ends, and stores it. It reports whether it did; a
// refusal goes into the write.
func (s *Store) rebase(ctx context.Context, tx pgx.Tx, w *sequent.Write) (bool, error) {
	for range 5 { // one that is begun by others again and again is not worth more
		now, tail, err := load(ctx, tx, w.Header.Key, w.Base, true)
		exists := err == nil
		if err != nil && !errors.Is(err, sequent.ErrNotFound) {
			if errors.Is(err, errMoved) {
				continue
			}
			return false, err
		}
		if w.Rebase == nil {
			break
		}
		if !w.Rebase(now, exists, tail) {
			return false, nil
		}
		if w.Err = record.Check(w, tooLong); w.Err != nil {
			return false, nil
		}
		keys, err := s.store(ctx, tx, []*sequent.Write{w})
		if err != nil || keys[0] != 0 {
			return err == nil, err
		}
	}
	w.Err = sequent.ErrConflict
	return false, nil
}

// tooLong is less than what PostgreSQL takes in one message.
const tooLong = 200 << 20

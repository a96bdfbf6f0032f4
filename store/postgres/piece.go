package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
)

// A piece is the writes of a batch that are of one part.
type piece struct {
	part   *part
	writes []*sequent.Write   // the first round; see split
	later  [][]*sequent.Write // further rounds, seldom any
	rows   []located          // of writes, once they are committed; zero for one that was not stored

	ordered bool // ids of transactions are in order, as lockRound has found; if not, it locked nothing
}

// divide returns the pieces of a batch in the order of their parts, so that processes wait
// for each other's new sessions in the same order.
func (s *Store) divide(writes []*sequent.Write) (pieces []*piece) {
	of := make(map[*part][]*sequent.Write, len(s.parts))
	for _, w := range writes {
		p := s.part(w.Header.Owner)
		of[p] = append(of[p], w)
	}
	for p, writes := range of {
		rounds := split(writes)
		pieces = append(pieces, &piece{part: p, writes: rounds[0], later: rounds[1:]})
	}
	slices.SortFunc(pieces, func(a, b *piece) int { return cmp.Compare(a.part.number, b.part.number) })
	return pieces
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

// groups divides pieces into those that share a transaction: all on one server, and none on
// a distributed database, where it would be one of several servers.
func (s *Store) groups(pieces []*piece) (groups [][]*piece) {
	var together []*piece
	for _, p := range pieces {
		if s.distributed || len(p.later) > 0 {
			groups = append(groups, []*piece{p})
		} else {
			together = append(together, p)
		}
	}
	if len(together) > 0 {
		groups = append(groups, together)
	}
	return groups
}

// commitPieces commits groups of pieces, each in a transaction of its own, and returns the
// writes that were stored. An error is that of the writes in its group, unless there is only
// one.
func (s *Store) commitPieces(ctx context.Context, groups [][]*piece) (changed []*sequent.Write, err error) {
	if len(groups) == 1 {
		return s.commitGroup(ctx, groups[0])
	}
	var mu sync.Mutex
	err = concurrently(groups, s.commitConnections, func(group []*piece) error {
		stored, err := s.commitGroup(ctx, group)
		if err != nil {
			for _, p := range group {
				for _, round := range append([][]*sequent.Write{p.writes}, p.later...) {
					for _, w := range round {
						w.Err = s.wrap(ctx, err)
					}
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		changed = append(changed, stored...)
		return nil
	})
	return changed, err
}

// commitGroup stores pieces in one transaction, or in several if one of them fails, and
// returns the writes that were stored. If it returns an error, none was.
func (s *Store) commitGroup(ctx context.Context, group []*piece) (changed []*sequent.Write, err error) {
	// A cancelled commit would have an unknown outcome.
	ctx = context.WithoutCancel(ctx)
	if p := group[0]; len(p.later) > 0 {
		return s.commitRounds(ctx, append([][]*sequent.Write{p.writes}, p.later...))
	}
	if err := s.commitBatch(ctx, group); err != nil {
		if apart := separate(group, err); apart != nil {
			return s.commitPieces(ctx, apart)
		}
		return nil, writeError(err)
	}
	for _, p := range group {
		for i, w := range p.writes {
			stored := p.rows[i].key != 0
			switch {
			case stored:
			case w.Try:
				w.Skipped = true
			default:
				stored, err = s.commitPatiently(ctx, w)
				if err != nil { // an error of this write only: others have been stored
					w.Err = s.wrap(ctx, writeError(err))
				}
			}
			if stored {
				changed = append(changed, w)
			}
		}
	}
	return changed, nil
}

// A pieceError is an error of a statement for one of several pieces.
type pieceError struct {
	error
	piece *piece
}

// Unwrap returns the error.
func (e pieceError) Unwrap() error { return e.error }

// separate divides a group that failed into the piece that is to blame and the others, or
// into halves if the piece is unknown. It returns nil if the error may concern all: there is
// one piece, or the connection broke.
func separate(group []*piece, err error) [][]*piece {
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok || len(group) == 1 || isConnectionError(err) {
		return nil
	}
	if e, ok := errors.AsType[pieceError](err); ok {
		others := slices.DeleteFunc(slices.Clone(group), func(p *piece) bool { return p == e.piece })
		return [][]*piece{{e.piece}, others}
	}
	return [][]*piece{group[:len(group)/2], group[len(group)/2:]}
}

// commitBatch stores the writes of a group whose sessions are at their bases and not locked,
// and sets the rows of its pieces.
func (s *Store) commitBatch(ctx context.Context, group []*piece) error {
	deadline := time.Now().Add(s.statementTimeout)
	for batch := group; ; {
		err := s.retry(ctx, isRetryable, func(ctx context.Context) error { return s.commit(ctx, batch) })
		p := group[0]
		if err == nil {
			p.rows = append(batch[0].rows, make([]located, len(p.writes)-len(batch[0].writes))...)
			return nil
		}
		if len(group) > 1 || !isLocked(err) || time.Now().After(deadline) {
			return err
		}
		// Another process may be inserting a session of the piece, so the new sessions
		// are left out. They follow the others.
		slices.SortStableFunc(p.writes, func(a, b *sequent.Write) int {
			return cmp.Compare(min(b.Base.Version, 1), min(a.Base.Version, 1))
		})
		n := slices.IndexFunc(p.writes, func(w *sequent.Write) bool { return w.Base.Version == 0 })
		if n == 0 {
			p.rows = make([]located, len(p.writes))
			return nil
		}
		if n > 0 {
			batch = []*piece{{part: p.part, writes: p.writes[:n]}}
		}
	}
}

// commit stores pieces in one transaction.
func (s *Store) commit(ctx context.Context, pieces []*piece) error {
	err := s.send(ctx, pieces, true)
	if isTaken(err) {
		for _, p := range pieces {
			s.cache.forget(p.writes)
		}
		err = s.send(ctx, pieces, false)
	}
	if err == nil {
		for _, p := range pieces {
			s.cache.update(p.writes, p.rows)
		}
	}
	return err
}

// send sends the statements for pieces, those of a piece that the cache allows as moves, and
// sets the rows of the pieces. Statements that are sent at once are one transaction.
func (s *Store) send(ctx context.Context, pieces []*piece, mayMove bool) error {
	conn, err := s.commits.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if rows, ok := s.cache.moves(pieces[0].writes); ok && mayMove && s.distributed {
		return s.sendMove(ctx, conn, pieces[0], rows)
	}
	b := new(pgx.Batch)
	var current *piece // whose statement was executed last
	if s.distributed {
		// The coordinator takes statements for several transactions otherwise. After an
		// error this one has not ended, and the pool closes the connection.
		b.Queue("BEGIN")
	}
	for _, p := range pieces {
		first := len(b.QueuedQueries)
		if rows, ok := s.cache.moves(p.writes); ok && mayMove && !s.distributed {
			p.queueMove(b, rows)
		} else {
			p.queueStore(b)
		}
		for _, q := range b.QueuedQueries[first:] {
			read := q.Fn
			q.Fn = func(results pgx.BatchResults) error {
				current = p
				if read != nil {
					return read(results)
				}
				_, err := results.Exec()
				return err
			}
		}
	}
	s.queueNotify(b, pieces)
	b.QueuedQueries[len(b.QueuedQueries)-1].Exec(func(pgconn.CommandTag) error {
		current = nil
		return nil
	})
	if s.distributed {
		b.Queue("COMMIT")
	}
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		if current != nil {
			err = pieceError{err, current}
		}
		return err
	}
	return commitLost(conn.Conn())
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// Connections of commits. They are apart from those of reads, so that neither wait
// for the others.
const (
	// lockTimeout bounds the wait for a lock in a statement for a whole batch, which
	// waits for no session. It may wait for the insertion of a session with the same
	// key, for a lock on the table, and for other processes' notifications.
	lockTimeout = time.Second

	// sessionTimeout bounds the wait for a session. After it, the connection serves
	// other sessions for a while.
	sessionTimeout = 100 * time.Millisecond
)

// Lanes returns the maximum number of batches that are committed at a time.
func (s *Store) Lanes() int { return max(1, s.commitConnections-cap(s.patient)) }

// openCommits opens the connections for commits: half of all.
func (s *Store) openCommits(ctx context.Context, config *pgxpool.Config) (err error) {
	s.commitConnections = max(1, int(config.MaxConns)/2)
	config.MaxConns = max(1, config.MaxConns-int32(s.commitConnections))
	s.patient = make(chan struct{}, max(1, s.commitConnections/4))
	own := config.Copy()
	own.MaxConns = int32(s.commitConnections)
	set(own.ConnConfig, map[string]string{"lock_timeout": strconv.FormatInt(lockTimeout.Milliseconds(), 10)})
	s.commits, err = pgxpool.NewWithConfig(ctx, own)
	return err
}

// isLocked reports whether a statement ended because it waited for a lock too long.
func isLocked(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "55P03"
}

// commitPatiently stores a write whose session is not at its base, or is locked. It
// waits for the lock as long as a statement may take, and uses a connection only
// some of that time, so that other sessions proceed.
func (s *Store) commitPatiently(ctx context.Context, w *sequent.Write) (stored bool, err error) {
	// The session is locked until the end of the transaction.
	options := pgx.TxOptions{BeginQuery: fmt.Sprintf("BEGIN; SET LOCAL lock_timeout = %d", sessionTimeout.Milliseconds())}
	deadline := time.Now().Add(s.statementTimeout)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		select {
		case s.patient <- struct{}{}:
		case <-s.closed:
			return false, record.ErrClosed
		}
		err := s.retry(ctx, isRetryable, func(ctx context.Context) error {
			return inTx(ctx, s.commits, options, func(tx pgx.Tx) (err error) {
				stored, err = s.rebase(ctx, tx, w)
				return err
			})
		})
		<-s.patient
		if err == nil || !isLocked(err) || time.Now().Add(wait).After(deadline) {
			return stored && err == nil, err
		}
		select {
		case <-time.After(wait):
		case <-s.closed:
			return false, record.ErrClosed
		}
	}
}

package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// The waits before sweeps. The first one is short, because many servers do not run
// for long. Expired sessions are invisible before they are deleted.
const (
	firstSweep    = time.Minute
	sweepInterval = 10 * time.Minute
)

// A sweeper deletes expired and old sessions. Its fields must not be changed after
// first use.
type sweeper struct {
	engine *sequent.Engine
	store  sequent.Store // of the engine
	maxAge time.Duration // since the last change of a session; 0 means no limit
	logger *slog.Logger
	// clean removes what deletions leave in the files of the store, also deletions by
	// other processes. It is called after each sweep; nil for none.
	clean func(context.Context) error
}

// start sweeps in the background, soon and then periodically, until ctx is done or
// stop is called. Stop waits for the end of a sweep.
func (s *sweeper) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.run(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}

func (s *sweeper) run(ctx context.Context) {
	next := time.NewTimer(firstSweep)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			next.Reset(sweepInterval)
		}
		n, err := s.sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.logger.WarnContext(ctx, "cannot delete expired sessions; will retry", "retry", sweepInterval, "error", err)
		case n > 0:
			s.logger.InfoContext(ctx, "deleted expired sessions", "sessions", n)
		}
	}
}

// maxIdle is the greatest distance between the last change in a store and the clock
// at which a sweeper deletes. A clock that has jumped ahead makes every session look
// old.
const maxIdle = 30 * 24 * time.Hour

// sweep deletes expired and old sessions and returns their number. Concurrent sweeps
// of several processes delete each session once. If the clock is more than 30 days
// past the last change in the store, sweep deletes nothing and logs a warning.
func (s *sweeper) sweep(ctx context.Context) (int, error) {
	newest, err := s.store.List(ctx, sequent.Query{AllOwners: true, Limit: 1}) // expired or not
	if err != nil {
		return 0, err
	}
	now := s.engine.Now()
	if len(newest.Headers) > 0 && now.Sub(newest.Headers[0].Updated) > maxIdle {
		s.logger.WarnContext(ctx, "no sessions are deleted, because the clock is more than 30 days past the last change in the store; "+
			"check the clock; deletion resumes after the next change", "now", now, "last change", newest.Headers[0].Updated)
		return 0, nil
	}
	n, err := s.engine.Sweep(ctx, sequent.SweepQuery{AllOwners: true, Expired: now})
	if err == nil && s.maxAge > 0 {
		var old int
		old, err = s.engine.Sweep(ctx, sequent.SweepQuery{AllOwners: true, Before: now.Add(-s.maxAge)})
		n += old
	}
	if err == nil && s.clean != nil {
		err = s.clean(ctx)
	}
	return n, err
}

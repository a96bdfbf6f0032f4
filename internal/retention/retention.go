// Package retention deletes the sessions that a store no longer has to keep.
package retention

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
	firstWait = time.Minute
	interval  = 10 * time.Minute
)

// A Sweeper deletes expired and old sessions. Its fields must not be changed after
// first use.
type Sweeper struct {
	Engine *sequent.Engine
	MaxAge time.Duration // since the last change of a session; 0 means no limit
	Logger *slog.Logger
	// Clean removes what deletions leave in the files of the store, also deletions by
	// other processes. It is called after each sweep; nil for none.
	Clean func(context.Context) error
}

// Start sweeps in the background, soon and then periodically, until ctx is done or
// stop is called. Stop waits for the end of a sweep.
func (s *Sweeper) Start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.run(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}

func (s *Sweeper) run(ctx context.Context) {
	next := time.NewTimer(firstWait)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			next.Reset(interval)
		}
		n, err := s.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Logger.WarnContext(ctx, "cannot delete expired sessions; will retry", "retry", interval, "error", err)
		case n > 0:
			s.Logger.InfoContext(ctx, "deleted expired sessions", "sessions", n)
		}
	}
}

// maxIdle is the greatest distance between the last change in a store and the clock
// at which a Sweeper deletes. A clock that has jumped ahead makes every session look
// old.
const maxIdle = 30 * 24 * time.Hour

// Sweep deletes expired and old sessions and returns their number. Concurrent sweeps
// of several processes delete each session once. If the clock is more than 30 days
// past the last change in the store, Sweep deletes nothing and logs a warning.
func (s *Sweeper) Sweep(ctx context.Context) (int, error) {
	last, err := s.Engine.LastChange(ctx)
	if err != nil {
		return 0, err
	}
	if now := s.Engine.Now(); !last.IsZero() && now.Sub(last) > maxIdle {
		s.Logger.WarnContext(ctx, "no sessions are deleted, because the clock is more than 30 days past the last change in the store; "+
			"check the clock; deletion resumes after the next change", "now", now, "last change", last)
		return 0, nil
	}
	n, err := s.Engine.Sweep(ctx)
	if err == nil && s.MaxAge > 0 {
		var old int
		old, err = s.Engine.SweepUnchanged(ctx, s.Engine.Now().Add(-s.MaxAge))
		n += old
	}
	if err == nil && s.Clean != nil {
		err = s.Clean(ctx)
	}
	return n, err
}

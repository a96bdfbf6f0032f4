package app

import (
	"context"
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

// startSweeps deletes expired and old sessions in the background, soon and then periodically, until ctx is
// done or stop is called. Stop waits for the end of a sweep.
func (a *App) startSweeps(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		next := time.NewTimer(firstSweep)
		defer next.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
				next.Reset(sweepInterval)
			}
			switch n, err := a.sweep(ctx); {
			case err != nil && ctx.Err() == nil:
				a.logger.WarnContext(ctx, "cannot delete expired sessions; will retry", "retry", sweepInterval, "error", err)
			case n > 0:
				a.logger.InfoContext(ctx, "deleted expired sessions", "sessions", n)
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// maxIdle is the greatest distance between the last change in a store and the clock
// at which sessions are deleted. A clock that has jumped ahead makes every session look
// old.
const maxIdle = 30 * 24 * time.Hour

// sweep deletes expired and old sessions and returns their number, and removes what deletions leave in the files
// of the store, also those by other processes. Concurrent sweeps of several processes delete each session once. If
// the clock is more than 30 days past the last change in the store, sweep deletes nothing and logs a warning.
func (a *App) sweep(ctx context.Context) (int, error) {
	newest, err := a.store.List(ctx, sequent.Query{AllOwners: true, Limit: 1}) // expired or not
	if err != nil {
		return 0, err
	}
	now := a.Engine.Now()
	if len(newest.Headers) > 0 && now.Sub(newest.Headers[0].Updated) > maxIdle {
		a.logger.WarnContext(ctx, "no sessions are deleted, because the clock is more than 30 days past the last change in the store; "+
			"check the clock; deletion resumes after the next change", "now", now, "last change", newest.Headers[0].Updated)
		return 0, nil
	}
	n, err := a.Engine.Sweep(ctx, sequent.Query{AllOwners: true, Expired: now})
	if err == nil && a.config.Retain > 0 {
		var old int
		old, err = a.Engine.Sweep(ctx, sequent.Query{AllOwners: true, Before: now.Add(-a.config.Retain)})
		n += old
	}
	if err == nil {
		_, err = a.Erase(ctx)
	}
	return n, err
}

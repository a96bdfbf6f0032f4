package app

import (
	"context"
	"crypto/rand"
	"io"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/tool"
)

// The waits before sweeps of expired sessions. The first one is short, because many
// servers do not run for long. Expired sessions are invisible before they are deleted.
const (
	firstSweepWait = time.Minute
	sweepInterval  = 10 * time.Minute
)

// Serve serves the configured dialect to the client that writes to in and reads from
// out, until in ends or ctx is done. It answers all requests that it has read.
func (a *App) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	d, err := a.Dialect()
	if err != nil {
		return err
	}
	if err := a.writable(ctx); err != nil {
		return err
	}
	server := mcpserver.New(mcpserver.Config{
		Dialect: d,
		Version: a.config.Version,
		Logger:  a.logger,
		// No other process ever uses this scope, so only this process has to remember
		// its latest session.
		Caller: tool.Caller{Scope: tool.Scope{Name: "stdio-" + rand.Text(), Exclusive: true}},
	})
	defer a.startSweeps(ctx)()
	return server.ServeStdio(ctx, in, out)
}

// startSweeps sweeps in the background until stop is called.
func (a *App) startSweeps(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { a.sweep(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// writable returns an error if the store is read-only or full. Such a store can be
// opened to read sessions, but a server with it would refuse every thought.
func (a *App) writable(ctx context.Context) error {
	missing := sequent.Key{ID: "-"}
	err := a.store.Delete(ctx, missing, 1) // a session has this random epoch with probability 2^-53
	if code := sequent.CodeOf(err); code == sequent.CodeReadOnly || code == sequent.CodeFull {
		return err
	}
	return nil
}

// ready returns an error if the store cannot answer calls now.
func (a *App) ready(ctx context.Context) error {
	if store, ok := a.store.(interface {
		Check(ctx context.Context) error
	}); ok {
		return store.Check(ctx)
	}
	return nil // the memory store is always ready
}

func (a *App) sweep(ctx context.Context) {
	next := time.NewTimer(firstSweepWait)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			next.Reset(sweepInterval)
		}
		n, err := a.sweepOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.logger.WarnContext(ctx, "cannot delete expired sessions; will retry", "retry", sweepInterval, "error", err)
		case n > 0:
			a.logger.InfoContext(ctx, "deleted expired sessions", "sessions", n)
		}
	}
}

// sweepOnce deletes sessions that have expired or exceed the retention, and returns
// their number. Concurrent sweeps of several processes delete each session once.
func (a *App) sweepOnce(ctx context.Context) (int, error) {
	n, err := a.Engine.Sweep(ctx)
	if err == nil && a.config.Retain > 0 {
		var old int
		old, err = a.Engine.SweepUnchanged(ctx, a.Engine.Now().Add(-a.config.Retain))
		n += old
	}
	return n, err
}

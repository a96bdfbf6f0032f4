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

// Sessions that have outlived their time are removed soon after a start, since
// many a server does not live long, and then now and again. Nobody sees them in
// between.
const (
	first = time.Minute
	later = 10 * time.Minute
)

// Serve serves the configured dialect to the one client that writes to in and
// reads from out, until in ends or ctx is done. What was read is answered then.
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
		// Nobody else is in this scope, now or later: what a call means that
		// names no session is the business of this process.
		Caller: tool.Caller{Scope: tool.Scope{Name: "stdio-" + rand.Text(), Exclusive: true}},
	})
	defer a.sweeping(ctx)()
	return server.ServeStdio(ctx, in, out)
}

// sweeping sweeps until the returned function is called.
func (a *App) sweeping(ctx context.Context) (stop func()) {
	ctx, leave := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { a.sweep(ctx) })
	return func() {
		leave()
		wg.Wait()
	}
}

// writable tells whether thoughts can be recorded. A store that can only be read
// opens, for those who want to see what is in it; a server that refuses every
// thought had better not start.
func (a *App) writable(ctx context.Context) error {
	nobody := sequent.Key{ID: "-"}
	err := a.store.Delete(ctx, nobody, 1) // no session has this epoch but by a chance in 2^53
	if code := sequent.CodeOf(err); code == sequent.CodeReadOnly || code == sequent.CodeFull {
		return err
	}
	return nil
}

// ready tells whether calls can be answered now.
func (a *App) ready(ctx context.Context) error {
	if store, ok := a.store.(interface {
		Check(ctx context.Context) error
	}); ok {
		return store.Check(ctx)
	}
	return nil // in memory
}

func (a *App) sweep(ctx context.Context) {
	next := time.NewTimer(first)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			next.Reset(later)
		}
		n, err := a.sweepOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.logger.WarnContext(ctx, "sessions that are kept no longer could not be removed; the next try is in a while", "error", err)
		case n > 0:
			a.logger.InfoContext(ctx, "sessions removed that are kept no longer", "sessions", n)
		}
	}
}

// sweepOnce removes what has expired, and what is not kept for so long. Several
// processes may do so at once: each session goes once.
func (a *App) sweepOnce(ctx context.Context) (int, error) {
	n, err := a.Engine.Sweep(ctx)
	if err == nil && a.config.Retain > 0 {
		var old int
		old, err = a.Engine.SweepUnchanged(ctx, a.Engine.Now().Add(-a.config.Retain))
		n += old
	}
	return n, err
}

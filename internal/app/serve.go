package app

import (
	"context"
	"crypto/rand"
	"io"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/retention"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/tool"
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
	defer a.sweeper().Start(ctx)()
	return server.ServeStdio(ctx, in, out)
}

func (a *App) sweeper() *retention.Sweeper {
	return &retention.Sweeper{
		Engine: a.Engine, MaxAge: a.config.Retain, Logger: a.logger,
		Clean: func(ctx context.Context) error {
			_, err := a.Erase(ctx)
			return err
		},
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

package app

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
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
	if !a.config.NoOrigin {
		go a.projects.of("") // the first call need not wait for git
	}
	server := mcpserver.New(mcpserver.Config{
		Dialect: d,
		Version: a.config.Version,
		Logger:  a.logger,
		Caller:  tool.Caller{Scope: stdioScope()},
		Agent:   a.config.Agent, Place: a.projects.of, NoOrigin: a.config.NoOrigin,
		Observer: a.observer(),
	})
	stop, err := a.servePrometheus(ctx)
	if err != nil {
		return err
	}
	defer stop()
	defer a.startSweeps(ctx)()
	return server.ServeStdio(ctx, in, out)
}

// stdioScope returns the scope of this process, which no other ever uses, so that only
// this process has to remember its latest session. Its project is the working
// directory, which most clients set to that of their user's project, unless the server
// learns of another one. Only its digest is stored.
func stdioScope() tool.Scope {
	dir, _ := os.Getwd() // or no project
	return tool.Scope{Name: "stdio-" + rand.Text(), Exclusive: true, Project: dir}
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

// stalledAfter is how long a commit may take before /readyz reports it.
const stalledAfter = 5 * time.Second

// A checker is a store on a medium that can fail. The memory store is always ready.
type checker interface {
	Check(ctx context.Context) error
}

var _, _ checker = (*sqlite.Store)(nil), (*postgres.Store)(nil)

// ready returns an error if the store cannot answer calls now.
func (a *App) ready(ctx context.Context) error {
	if store, ok := sequent.As[checker](a.store); ok {
		if err := store.Check(ctx); err != nil {
			return err
		}
	}
	if s := a.Engine.Stats(); s.Oldest > stalledAfter {
		return sequent.Errorf(sequent.CodeBusy, "", "look for a hanging program or a lock in the database",
			"the store has not answered a commit for %s, and others wait for it", stalledAfter.String())
	}
	return nil
}

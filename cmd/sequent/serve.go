package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
)

func (p *program) serve() *cobra.Command {
	var dialect, sync, storage, vault string
	var ttl, retain time.Duration
	var window int
	var model modelFlags
	var web httpFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP on standard input and output, or over HTTP",
		Long: `Serve MCP on standard input and output, for the editor or agent that starts it, or with --http for
any number of clients.

A thought is in the store before it is acknowledged, and several servers may share one store. The
server ends when its input does, or when it is told to, and answers first what it has read. Nothing
but MCP goes to standard output; logs go to standard error and hold no thoughts.

Over HTTP the dialect of --dialect is at /mcp and each at /mcp/NAME, for clients of MCP 2026-07-28 and
of older versions. With --auth FILE each subject of a file of tokens has sessions of its own, which
the other commands show with --owner; without it all clients are one user, the one whose sessions they
show anyway. A call that names no session goes on in the one that was begun last in the same scope,
where a dialect has that: the scope is NAME if the URL ends in ?scope=NAME, else the token's subject,
else the connection of an older client.

At /healthz it says that it answers, and at /readyz whether calls make sense: not while the store is
away, nor when it is to end. With --drain it goes on for that long, so that a load balancer sees it.

An address that other machines can reach needs --auth or --insecure. The server speaks plain HTTP: to
keep tokens secret between machines put a proxy that speaks TLS before it, and name its site with
--allow-origin.

In the dialect status a language model writes thoughts, if it is asked to. Which one says the call,
else --model, else LUX_MODEL_NORMAL or SEQUENT_MODEL in the environment; the key is in the variable of
its provider, such as OPENAI_API_KEY. The server starts without, and refuses such calls then.

In the dialect wiki sessions are notes as well, in a folder of Markdown that --vault names, made for
Obsidian and the like. AGENT_ID says who thinks. With --auth each subject has a vault of their own, in
the folder .owners of that one. Searches by meaning need SEQUENT_EMBEDDINGS_URL and
SEQUENT_EMBEDDINGS_MODEL, and SEQUENT_EMBEDDINGS_KEY where the service wants a key.

Every flag can be given in the environment as well: SEQUENT_STORE for --store, SEQUENT_SESSION_TTL
for --session-ttl. A flag wins over the environment.`,
		Example: "# as an editor starts it\nsequent serve\n\n# forget sessions a month after their last thought\nsequent serve --session-ttl 30d\n\n" +
			"# a store for one project, in its own directory\nsequent serve --store ./.sequent/sequent.db\n\n" +
			"# for all clients on this machine, at http://127.0.0.1:8080/mcp\nsequent serve --http 8080\n\n" +
			"# for a team, each with sessions of their own\nsequent token new alice --file tokens\nsequent serve --http 0.0.0.0:8080 --auth tokens\n\n" +
			"# thoughts with [[WikiLinks]], as notes in your vault\nsequent serve --dialect wiki --vault ~/Notes",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			survivePipes()
			cfg := p.config()
			cfg.Dialect, cfg.Sync, cfg.StoragePath, cfg.HistoryWindow = dialect, sync, storage, window
			cfg.Retain = retain
			cfg.Vault, cfg.Agent = vault, p.getenv("AGENT_ID")
			if c.Flags().Changed("session-ttl") {
				cfg.SessionTTL = &ttl
			}
			if cfg.Model, err = model.config(p, c); err != nil {
				return err
			}
			if cfg.HTTP, err = web.config(p, c); err != nil {
				return err
			}
			// Over HTTP thoughts are many people's, or many conversations'.
			if cfg.HTTP.Addr == "" {
				if cfg.Drawing, err = p.drawingWhileServing(); err != nil {
					return err
				}
			}
			ctx := c.Context()
			a, err := app.Open(ctx, cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, a.Close()) }()
			if cfg.HTTP.Addr != "" {
				return a.ServeHTTP(ctx)
			}
			if isTerminal(p.in) {
				fmt.Fprintln(p.err, "sequent serve speaks MCP, one JSON message a line; usually an editor starts it.\nCtrl-D ends it. sequent demo shows it at work.")
			}
			return a.Serve(ctx, p.in, p.out)
		},
	}
	f := c.Flags()
	f.StringVar(&dialect, "dialect", app.Dialects()[0], "the `NAME` of a form of the tool: "+strings.Join(app.Dialects(), ", "))
	f.StringVar(&sync, "sync", "full", "`MODE` full: a thought survives a loss of power; normal: the death of the process")
	f.Var((*span)(&ttl), "session-ttl", "forget sessions so long after their last change here, a `DURATION` as in 30d or 12h; 0 for never (default: never, but in the dialect history after 30m)")
	f.Var((*span)(&retain), "retain", "delete any session that has not changed for a `DURATION` as in 90d, whoever recorded it and when; 0 for never")
	f.IntVar(&window, "history-window", 0, "in the dialect history a reply holds the last `N` thoughts; 0 for all")
	f.StringVarP(&storage, "storage-path", "s", "", "where the dialect classic writes session files, a `DIR` (default: Documents/thinking in your home directory)")
	f.StringVar(&vault, "vault", "", "in the dialect wiki the folder of notes, a `DIR` (default: Documents/sequent-vault in your home directory)")
	model.add(f, "in the dialect status: ", " if a call names none")
	complete(c, "dialect", app.Dialects()...)
	complete(c, "sync", "full", "normal")
	completeDirs(c, "storage-path", "vault")
	web.add(f)
	return c
}

// completeDirs has the shell propose folders for flags.
func completeDirs(c *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if err := c.MarkFlagDirname(flag); err != nil {
			panic(err) // there is no such flag
		}
	}
}

// drawingWhileServing says how a dialect draws thoughts, unless the variable is
// set by which users of the reference server turn its drawings off.
func (p *program) drawingWhileServing() (app.Drawing, error) {
	const name = "DISABLE_THOUGHT_LOGGING"
	if value := p.getenv(name); value != "" {
		quiet, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return app.Drawing{}, &usageError{msg: fmt.Sprintf("%s cannot be %q", name, value), fix: "set it to true or false"}
		}
		if quiet {
			return app.Drawing{}, nil
		}
	}
	return app.Drawing{Out: p.err, Colour: p.colored(p.err), Width: func() int { return columnsOf(p.err) }}, nil
}

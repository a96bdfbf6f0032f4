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
	var dialect, sync, storage string
	var ttl time.Duration
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP on standard input and output",
		Long: `Serve MCP on standard input and output, for the editor or agent that starts it.

A thought is in the store before it is acknowledged, and several servers may share one store. The
server ends when its input does, or when it is told to, and answers first what it has read. Nothing
but MCP goes to standard output; logs go to standard error and hold no thoughts.

Every flag can be given in the environment as well: SEQUENT_STORE for --store, SEQUENT_SESSION_TTL
for --session-ttl. A flag wins over the environment.`,
		Example: "# as an editor starts it\nsequent serve\n\n# forget sessions a month after their last thought\nsequent serve --session-ttl 720h\n\n" +
			"# a store for one project, in its own directory\nsequent serve --store ./.sequent/sequent.db",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			survivePipes()
			cfg := p.config()
			cfg.Dialect, cfg.Sync, cfg.SessionTTL, cfg.StoragePath = dialect, sync, ttl, storage
			if cfg.Drawing, err = p.drawingWhileServing(); err != nil {
				return err
			}
			ctx := c.Context()
			a, err := app.Open(ctx, cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, a.Close()) }()
			if isTerminal(p.in) {
				fmt.Fprintln(p.err, "sequent serve speaks MCP, one JSON message a line; usually an editor starts it.\nCtrl-D ends it. sequent demo shows it at work.")
			}
			return a.Serve(ctx, p.in, p.out)
		},
	}
	f := c.Flags()
	f.StringVar(&dialect, "dialect", app.Dialects()[0], "the `NAME` of a form of the tool: "+strings.Join(app.Dialects(), ", "))
	f.StringVar(&sync, "sync", "full", "`MODE` full: a thought survives a loss of power; normal: the death of the process")
	f.DurationVar(&ttl, "session-ttl", 0, "forget sessions so long after their last change, a `DURATION` as in 720h; 0 for never")
	f.StringVarP(&storage, "storage-path", "s", "", "where the dialect classic writes session files, a `DIR` (default: Documents/thinking in your home directory)")
	complete(c, "dialect", app.Dialects()...)
	complete(c, "sync", "full", "normal")
	return c
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

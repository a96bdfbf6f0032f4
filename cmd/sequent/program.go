package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/app"
)

// A program is what the commands share: the streams, and what the flags that
// all commands have say.
type program struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(string) string
	now    func() time.Time

	store    string
	color    string
	logLevel string
	json     bool
	width    int
	owner    string // whose sessions; empty means the local user's

	inherited []string // flags that the environment has set
}

// main runs a command line and returns the exit code.
func (p *program) main(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	command := root.Name()
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		command = c.CommandPath()
		return p.settings(c)
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return misuse(c, "%v", err) })

	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		// A flag before --help may say whether to use colour; a wrong one is no
		// reason to refuse help.
		_ = p.settings(c)
		_ = p.help(c)
	})
	root.SilenceErrors, root.SilenceUsage = true, true
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errQuiet):
		return exitFailure
	}
	c := complain(err, command)
	c.print(p.err, p.json || slices.Contains(args, "--json"))
	return c.exit
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sequent",
		Short: "Chains of thought for AI agents: recorded, branched, revised, read back",
		Long: `sequent is an MCP server that records the chains of thought of AI agents: numbered thoughts that
branch and revise, durable before they are acknowledged. The other commands show what was recorded.`,
		Example: "# see it at work: a session over a real MCP connection\nsequent demo\n\n" +
			"# what an editor runs\nsequent serve\n\n" +
			"# look at what was thought\nsequent list\nsequent show\nsequent search \"connection pool\"",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			msg := fmt.Sprintf("there is no command %q", args[0])
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				return &usageError{msg: msg, fix: "did you mean sequent " + strings.Join(near, " or sequent ") + "?"}
			}
			return &usageError{msg: msg, fix: "sequent --help lists the commands"}
		},
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
		Version: buildInfo().Version,
	}
	root.SuggestionsMinimumDistance = 2
	flags := root.PersistentFlags()
	flags.StringVar(&p.store, "store", "", "where sessions are: memory, a `PATH`, sqlite:PATH, or postgres://… (default: a file in your data directory)")
	flags.StringVar(&p.color, "color", "auto", "use colour `WHEN`: auto, always or never")
	flags.StringVar(&p.logLevel, "log-level", "warn", "log from this `LEVEL` on: debug, info, warn or error")
	root.AddGroup(
		&cobra.Group{ID: "serving", Title: "Serving"},
		&cobra.Group{ID: "thinking", Title: "With a language model"},
		&cobra.Group{ID: "sessions", Title: "Sessions"},
		&cobra.Group{ID: "more", Title: "More"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("serving", p.demo(), p.serve(), p.token(), p.doctor(), p.migrate(), p.copy())
	add("thinking", p.think(), p.plan())
	add("sessions", p.list(), p.show(), p.search(), p.watch(), p.export(), p.importFiles(), p.delete(), p.vault())
	add("more", p.version())
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	complete(root, "color", "auto", "always", "never")
	complete(root, "log-level", "debug", "info", "warn", "error")
	return root
}

// complete gives the shell the values of a flag.
func complete(c *cobra.Command, flag string, values ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}

// arguments returns a check of how many arguments there are, which says what
// they are.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return misuse(c, "%s needs %s", c.CommandPath(), what)
		case most >= 0 && len(args) > most && most == 0:
			return misuse(c, "%s takes no arguments, but there is %q", c.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return misuse(c, "%s takes %s, but there is also %q", c.CommandPath(), what, args[most])
		}
		return nil
	}
}

// misuse is a usage error that points to the help of a command.
func misuse(c *cobra.Command, format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...), fix: c.CommandPath() + " --help tells how it is used"}
}

// settings reads from the environment what no flag says, and checks the values
// that all commands have.
func (p *program) settings(c *cobra.Command) error {
	var err error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value := p.getenv(name)
		if f.Changed || value == "" || f.Name == "help" || f.Name == "version" || err != nil {
			return
		}
		p.inherited = append(p.inherited, f.Name)
		if bad := c.Flags().Set(f.Name, value); bad != nil {
			err = &usageError{
				msg: fmt.Sprintf("%s cannot be %q (%v)", name, value, errors.Unwrap(bad)),
				fix: fmt.Sprintf("it means the same as --%s: %s", f.Name, f.Usage),
			}
		}
	})
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"auto", "always", "never"}, p.color) {
		return usagef("--color cannot be %q, only auto, always or never", p.color)
	}
	if p.width < 0 || p.width > 1000 {
		return usagef("--width cannot be %d, only a number of columns up to 1000", p.width)
	}
	_, err = p.level()
	return err
}

// variable is the name in the environment of what a flag sets.
func variable(flag string) string {
	return "SEQUENT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (p *program) level() (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(p.logLevel)); err != nil {
		return 0, usagef("--log-level cannot be %q, only debug, info, warn or error", p.logLevel)
	}
	return level, nil
}

// shownStore is what --store was given, but for a database's password.
func (p *program) shownStore() string { return withoutSecret(p.store) }

func withoutSecret(store string) string {
	if place, err := app.Locate(store); err == nil {
		if _, ok := place.Database(); ok {
			return place.String()
		}
	}
	return store
}

// config is what all commands tell the application.
func (p *program) config() app.Config {
	level, _ := p.level() // settings has checked it
	return app.Config{
		Store:   p.store,
		Version: buildInfo().Version,
		Logger:  slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: level})),
	}
}

// reading runs a command that looks at what is in the store.
func (p *program) reading(ctx context.Context, do func(a *app.App) error) error {
	return p.readingWith(ctx, p.config(), do)
}

func (p *program) readingWith(ctx context.Context, cfg app.Config, do func(a *app.App) error) (err error) {
	a, err := app.OpenExisting(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		if closing := a.Close(); err == nil {
			err = closing
		}
	}()
	a.Engine = a.Engine.Owned(p.owner)
	return do(a)
}

// hasOwner gives a command the flag --owner.
func (p *program) hasOwner(c *cobra.Command) {
	c.Flags().StringVar(&p.owner, "owner", "", "the sessions of a `SUBJECT` of sequent serve --auth, instead of your own")
}

// asJSON gives a command the flag --json.
func (p *program) asJSON(c *cobra.Command) {
	c.Flags().BoolVar(&p.json, "json", false, "write JSON, for programs")
}

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/app"
)

// A program holds what all commands share: the streams and the values of common
// flags.
type program struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(string) string
	now    func() time.Time

	dialects []dialect.Builder // beside those of this module

	store    string
	server   string // URL of a server whose sessions are read instead; see openServer
	color    string
	logLevel string
	json     bool
	width    int
	noPager  bool
	sink     io.Writer // takes what print and printf write while the output is paged; nil is out
	sign     string    // file of a private key; empty signs nothing
	owner    string    // owner of the sessions; empty means self
	self     string    // who asks: the token's subject at a server, otherwise empty, the local user

	allOwners  bool // sessions of all owners, instead of those of owner
	allVisible bool // a server decides allOwners: all, if the token sees those
	project    projectChoice

	inherited []string // names of the flags that the environment has set
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
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok { // in the form of invalid
			return misuse(c, "invalid value %q for --%s: %s", e.GetValue(), e.GetFlag().Name, parseProblem(e))
		}
		if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedName() == "server" {
			return needsStore(c)
		}
		return misuse(c, "%v", err)
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		_ = p.settings(c) // for --color; an invalid value does not prevent help
		_ = p.help(c)
	})
	p.addHelpAndCompletion(root)
	root.SilenceErrors, root.SilenceUsage = true, true
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailure
	}
	c := newUserError(err, command)
	c.print(p.err, p.json || slices.Contains(args, "--json"))
	return c.exit
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sequent",
		Short: "Record and review the chains of thought of AI agents",
		Long: `Record the reasoning of AI agents as sessions of numbered thoughts that branch and revise each other,
and review it later. Agents connect to the MCP server sequent serve. The other commands list, draw, search,
follow, export and delete the recorded sessions.

Without a command, sequent on a terminal tells what was thought last, here and in other projects.`,
		Example: "# record and draw an example session\nsequent demo\n\n" +
			"# run the server, as an editor does\nsequent serve\n\n" +
			"# review recorded sessions\nsequent list\nsequent show\nsequent search \"connection pool\"",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(c, args[0])
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if !p.tabular() {
				return c.Help()
			}
			return p.greet(c.Context())
		},
		Version: buildInfo().Version,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&p.store, "store", "", "session store: a file, sqlite:PATH, a postgres:// URL, or memory (default: a file in your data directory)")
	flags.StringVar(&p.color, "color", "auto", "use of colour: auto, always or never")
	flags.StringVar(&p.logLevel, "log-level", "warn", "minimum level of log messages: debug, info, warn or error")
	root.AddGroup(
		&cobra.Group{ID: "serving", Title: "Server and store"},
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
	add("serving", p.demo(), p.setup(), p.upgrade(), p.remove(), p.serve(), p.token(), p.login(), p.logout(), p.doctor(), p.healthcheck(), p.migrate(), p.copy(), p.backup(), p.restore(), p.compact(), p.owners(), p.ownerCommand())
	add("thinking", p.think(), p.plan())
	add("sessions", p.list(), p.show(), p.brief(), p.compare(), p.view(), p.share(), p.search(), p.analyze(), p.stats(), p.watch(), p.noteThought(), p.export(), p.importFiles(), p.verify(), p.delete(), p.vault())
	add("more", p.hook(), p.version())
	complete(root, "color", "auto", "always", "never")
	complete(root, "log-level", "debug", "info", "warn", "error")
	nameValues(root)
	return root
}

// nameValues sets the names of flag values in the help of a command and its
// subcommands.
func nameValues(c *cobra.Command) {
	names := make(map[string]string)
	for name, flags := range map[string]string{
		"ADDRESS": "http", "COLUMNS": "width", "COMMAND": "mcp", "DIR": "folder storage-path vault",
		"DURATION": "drain idle mcp-session-timeout model-timeout retain session-ttl since", "FILE": "audit auth oidc-client-secret-file file key output sign",
		"FORMAT": "format", "HASH": "head", "CLAIM": "oidc-owner-claim", "ID": "session client-id oidc-client-id oidc-login-client-id", "PREFIX": "oidc-scope-prefix", "NAME=VALUE": "oidc-param", "LEVEL": "log-level", "MODE": "mode sync",
		"N":    "burst history-window limit max-calls max-connections max-heavy-calls max-model-calls max-streams max-tokens max-watches mcp-sessions model-parallel model-tries quota-notes quota-sessions rate steps",
		"NAME": "branch client dialect model token-env", "ORIGIN": "allow-origin", "CIDR": "trusted-proxy", "SIZE": "max-bytes-in max-bytes-out quota-bytes", "STORE": "from store to", "SUBJECT": "owner", "URL": "team server",
		"REGEXP": "redact", "TAG": "tag", "WHEN": "color", "VIEW": "view", "ORDER": "order",
	} {
		for flag := range strings.FieldsSeq(flags) {
			names[flag] = name
		}
	}
	name := func(f *pflag.Flag) {
		if names[f.Name] != "" {
			f.Value = namedValue{f.Value, names[f.Name]}
		}
		if slices.Contains([]string{"0", "0s", "[]"}, f.DefValue) {
			f.DefValue = "" // described by the usage
		}
	}
	c.PersistentFlags().VisitAll(name)
	c.LocalNonPersistentFlags().VisitAll(name)
	for _, sub := range c.Commands() {
		nameValues(sub)
	}
}

// A namedValue is a flag value with the name that help shows.
type namedValue struct {
	pflag.Value
	name string
}

// Type returns the name.
func (v namedValue) Type() string { return v.name }

// complete registers the values of a flag for shell completion.
func complete(c *cobra.Command, flag string, values ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // no such flag
	}
}

// arguments returns a check of the number of arguments. A negative maxArgs means
// no limit. What describes the arguments in errors.
func arguments(minArgs, maxArgs int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < minArgs:
			return misuse(c, "%s requires %s", c.CommandPath(), what)
		case maxArgs == 0 && len(args) > 0:
			return misuse(c, "unexpected argument %q: %s takes no arguments", args[0], c.CommandPath())
		case maxArgs > 0 && len(args) > maxArgs:
			return misuse(c, "unexpected argument %q: %s takes %s", args[maxArgs], c.CommandPath(), what)
		}
		return nil
	}
}

// onlySubcommands refuses the arguments of a command that has only subcommands.
func onlySubcommands(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return nil
}

// misuse returns a usage error that refers to the help of a command.
func misuse(c *cobra.Command, format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...), fix: "run " + c.CommandPath() + " --help for usage"}
}

// parseProblem says why pflag cannot parse a value, without the terms of Go's packages.
func parseProblem(err error) string {
	if e, ok := errors.AsType[*strconv.NumError](err); ok {
		switch {
		case errors.Is(e, strconv.ErrRange):
			return "out of range"
		case e.Func == "ParseBool":
			return "not true or false"
		}
		return "not a number"
	}
	if e := errors.Unwrap(err); e != nil {
		err = e
	}
	return strings.TrimPrefix(err.Error(), "time: ")
}

// invalid returns a usage error for the value of a flag. Want describes the valid
// values.
func invalid(flag string, value any, want string) error {
	return &usageError{msg: fmt.Sprintf("invalid value %q for --%s", fmt.Sprint(value), flag), fix: "use " + want}
}

// settings sets flags that are not on the command line from the environment, and
// checks the common flags.
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
				msg: fmt.Sprintf("invalid value %q for %s: %s", value, name, parseProblem(bad)),
				fix: fmt.Sprintf("%s sets --%s, as described by %s --help", name, f.Name, c.CommandPath()),
			}
		}
	})
	if err != nil {
		return err
	}
	if err := p.mayUseStore(c); err != nil {
		return err
	}
	if !slices.Contains([]string{"auto", "always", "never"}, p.color) {
		return invalid("color", p.color, "auto, always or never")
	}
	if p.width < 0 || p.width > 1000 {
		return invalid("width", p.width, "a number of columns from 1 to 1000, or 0 for the terminal's width")
	}
	_, err = p.level()
	return err
}

// variable returns the name of the environment variable that sets a flag.
func variable(flag string) string {
	return "SEQUENT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (p *program) level() (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(p.logLevel)); err != nil {
		return 0, invalid("log-level", p.logLevel, "debug, info, warn or error")
	}
	return level, nil
}

// shownStore returns the value of --store without a password.
func (p *program) shownStore() string { return withoutSecret(p.store) }

func withoutSecret(store string) string {
	if place, err := app.Locate(store); err == nil {
		if _, ok := place.Database(); ok {
			return place.String()
		}
	}
	return store
}

// config returns the configuration that all commands share.
func (p *program) config() app.Config {
	level, _ := p.level() // valid: settings has checked it
	return app.Config{
		Store:    p.store,
		Dialects: p.dialects,
		Version:  buildInfo().Version,
		Logger:   slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: level})),
	}
}

// withStore runs do with the existing store, or with the sessions of --server.
func (p *program) withStore(ctx context.Context, do func(a *app.App) error) error {
	remote, err := p.fromServer()
	if err != nil {
		return err
	}
	open := app.OpenExisting
	if remote {
		open = p.openServer
	}
	return p.withApp(ctx, open, p.config(), do)
}

// withApp runs do with the parts that open opens, and with the sessions of --owner.
func (p *program) withApp(ctx context.Context, open func(context.Context, app.Config) (*app.App, error), cfg app.Config, do func(a *app.App) error) error {
	a, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	if !p.allOwners { // only the local user's engine sees those
		a.Engine = a.Engine.Owned(cmp.Or(p.owner, p.self))
	}
	err = do(a)
	if closing := a.Close(); err == nil {
		err = closing
	}
	return err
}

// addJSONFlag adds the flag --json to a command.
func (p *program) addJSONFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.json, "json", false, "print JSON")
}

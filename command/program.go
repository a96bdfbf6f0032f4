package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/llm/openai"
	"github.com/sequent-dev/sequent/mcpserver"
)

// A program holds what all commands share: the streams, the values of flags, and what is open while a
// command runs.
type program struct {
	flagRows []flagRow // what flagTable returns
	in       io.Reader
	out      io.Writer
	err      io.Writer
	getenv   func(string) string
	now      func() time.Time

	dialects []dialect.Builder // beside those of this module

	options
	inherited []string // names of the flags that the environment has set

	cmd     *cobra.Command // that runs, as are the following
	args    []string
	pages   bool // results are shown in a pager
	app     *app.App
	engine  *sequent.Engine // of the sessions of owner
	remote  *remote         // the server of --server, whose sessions these are; nil for a store
	self    string          // who asks: the token's subject at a server, otherwise empty, the local user
	resume  string          // the command that goes on where this one has stopped; empty for none
	cancel  context.CancelCauseFunc
	writing error // the first error of writing the output
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
		if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			return invalid("--"+e.GetFlag().Name, e.GetValue(), wanted(e.GetFlag(), err))
		}
		if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedName() == "server" {
			return needsStore(c, "not on a server")
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
	if err == nil {
		return exitOK
	}
	if code, ok := errors.AsType[exit](err); ok {
		return int(code)
	}
	c := newUserError(err, command)
	if p.resume != "" {
		c.Fix = strings.TrimPrefix(c.Fix+"; to resume: "+p.resume, "; ")
	}
	c.print(p.err, p.json || slices.Contains(args, "--json"))
	return c.exit
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:     "sequent",
		Short:   "Record and review the chains of thought of AI agents",
		Long:    whatItIs,
		Args:    onlySubcommands,
		RunE:    func(*cobra.Command, []string) error { return p.welcome() },
		Version: buildInfo().Version,
	}
	p.serving.HTTP = app.HTTPConfig{Rate: mcpserver.DefaultRate, SessionTimeout: mcpserver.DefaultSessionTimeout, Limits: mcpserver.DefaultLimits()}
	p.serving.HTTP.Limits.Heavy = 0 // differs between machines
	p.serving.Dialect = p.config().Names()[0]
	for word := range strings.FieldsSeq(globalFlags) {
		p.addFlag(root, root.PersistentFlags(), word)
	}
	for _, section := range sections() {
		if section.title != "" {
			root.AddGroup(&cobra.Group{ID: section.title, Title: section.title})
		}
		p.add(root, section.title, section.rows)
	}
	return root
}

// onlySubcommands refuses the arguments of a command that has only subcommands.
func onlySubcommands(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return nil
}

// opposites are flags that contradict each other. The command line takes precedence over the
// environment.
var opposites = [][2]string{{"store", "server"}, {"owner", "all-owners"}, {"project", "all-projects"}, {"client", "all"}}

// settings sets flags that are not on the command line from the environment.
func (p *program) settings(c *cobra.Command) (err error) {
	onLine := make(map[string]bool)
	c.Flags().Visit(func(f *pflag.Flag) {
		onLine[f.Name] = true
		for _, two := range opposites {
			if i := slices.Index(two[:], f.Name); i >= 0 {
				onLine[two[1-i]] = true
			}
		}
	})
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value := p.getenv(name)
		if onLine[f.Name] || value == "" || f.Name == "help" || f.Name == helpAll || f.Name == "version" || err != nil {
			return
		}
		p.inherited = append(p.inherited, f.Name)
		if bad := c.Flags().Set(f.Name, value); bad != nil {
			err = invalid(name, value, wanted(f, bad))
		}
	})
	for _, two := range opposites {
		if err == nil && c.Flags().Changed(two[0]) && c.Flags().Changed(two[1]) {
			err = usagef("--%s and --%s are mutually exclusive", two[0], two[1])
		}
	}
	return err
}

// variable returns the name of the environment variable that sets a flag.
func variable(flag string) string {
	return "SEQUENT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// given reports whether a flag is on the command line.
func (p *program) given(flag string) bool {
	return p.cmd.Flags().Changed(flag) && !slices.Contains(p.inherited, flag)
}

func (p *program) level() (level slog.Level) {
	_ = level.UnmarshalText([]byte(p.logLevel)) // the flag allows valid ones only
	return level
}

// withoutSecret returns a value of --store without a password.
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
	cfg := p.serving
	cfg.Store, cfg.Vault, cfg.StoragePath = p.store, p.vault, p.storage
	cfg.Dialects, cfg.Version, cfg.Agent = p.dialects, buildInfo().Version, p.getenv("AGENT_ID")
	cfg.Model = openai.Config{Getenv: p.getenv}
	cfg.Logger = slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: p.level()}))
	return cfg
}

// modelConfig returns the configuration of a language model. It ignores --model from the environment,
// because package openai reads the variables itself: LUX_MODEL_NORMAL takes precedence over
// SEQUENT_MODEL.
func (p *program) modelConfig() openai.Config {
	cfg := openai.Config{Getenv: p.getenv, Timeout: p.timeout, MaxAttempts: p.tries}
	if p.given("model") {
		cfg.Model = p.model
	}
	return cfg
}

// opener returns what opens what a command needs.
func (p *program) opener(n need) func(context.Context, app.Config) (*app.App, error) {
	switch {
	case n == newStore:
		return app.Open
	case n == storeOnly:
		return app.OpenExisting
	case p.server != "":
		return p.openServer
	case n == storeToCome && p.store == "":
		return app.Open
	}
	if store := p.projectStore(); store != "" && p.store == "" && !p.json {
		p.tell("This project keeps sessions in a store of its own: add --store %s to read it.", store)
	}
	return app.OpenExisting
}

// with runs do with what a command needs, and with the sessions of --owner.
func (p *program) with(ctx context.Context, n need, do func() error) error {
	a, err := p.opener(n)(ctx, p.config())
	if err != nil {
		return err
	}
	if !p.allOwners { // only the local user's engine sees those
		a.Engine = a.Engine.Owned(cmp.Or(p.owner, p.self))
	}
	p.app, p.engine = a, a.Engine
	err = p.elsewhereOf(ctx, do())
	return cmp.Or(err, a.Close())
}

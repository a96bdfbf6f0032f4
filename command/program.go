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

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/app"
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
	self      string   // who asks: the token's subject at a server, otherwise empty, the local user

	cmd     *cobra.Command // that runs, as are the following
	args    []string
	pages   bool // results are shown in a pager
	app     *app.App
	engine  *sequent.Engine // of the sessions of owner
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
		if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok { // in the form of invalid
			if want, ok := errors.AsType[wantError](err); ok {
				return invalid(e.GetFlag().Name, e.GetValue(), string(want))
			}
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
	case errors.Is(err, errUnproven):
		return exitUnproven
	}
	c := newUserError(err, command)
	c.print(p.err, p.json || slices.Contains(args, "--json"))
	return c.exit
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sequent",
		Short: "Record and review the chains of thought of AI agents",
		Long:  whatItIs,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(c, args[0])
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return p.greet(c.Context())
		},
		Version: buildInfo().Version,
	}
	p.serving.HTTP = app.HTTPConfig{Rate: mcpserver.DefaultRate, SessionTimeout: mcpserver.DefaultSessionTimeout, Limits: mcpserver.DefaultLimits()}
	p.serving.HTTP.Limits.Heavy = 0 // differs between machines
	p.serving.Dialect = p.config().Names()[0]
	for word := range strings.FieldsSeq(globalFlags) {
		p.addFlag(root, root.PersistentFlags(), word)
	}
	for _, section := range p.sections() {
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
		if f.Changed || value == "" || f.Name == "help" || f.Name == helpAll || f.Name == "version" || err != nil {
			return
		}
		p.inherited = append(p.inherited, f.Name)
		if bad := c.Flags().Set(f.Name, value); bad != nil {
			problem := ": " + parseProblem(bad)
			if want, ok := errors.AsType[wantError](bad); ok {
				problem = ", " + want.Error()
			}
			err = &usageError{
				msg: fmt.Sprintf("invalid value %q for %s%s", value, name, problem),
				fix: fmt.Sprintf("%s sets --%s, as described by %s --help", name, f.Name, c.CommandPath()),
			}
		}
	})
	if err != nil {
		return err
	}
	if p.width < 0 || p.width > 1000 {
		return invalid("width", p.width, "a number of columns from 1 to 1000, or 0 for the terminal's width")
	}
	return nil
}

// variable returns the name of the environment variable that sets a flag.
func variable(flag string) string {
	return "SEQUENT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (p *program) level() (level slog.Level) {
	_ = level.UnmarshalText([]byte(p.logLevel)) // the flag allows valid ones only
	return level
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
	cfg := p.serving
	cfg.Store, cfg.Vault, cfg.StoragePath = p.store, p.vault, p.storage
	cfg.Dialects, cfg.Version, cfg.Agent = p.dialects, buildInfo().Version, p.getenv("AGENT_ID")
	cfg.Model = app.ModelConfig{Getenv: p.getenv}
	cfg.Logger = slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: p.level()}))
	return cfg
}

// modelConfig returns the configuration of a language model. It ignores --model from the environment,
// because package openai reads the variables itself: LUX_MODEL_NORMAL takes precedence over
// SEQUENT_MODEL.
func (p *program) modelConfig() (app.ModelConfig, error) {
	cfg := app.ModelConfig{Getenv: p.getenv, Timeout: p.timeout, MaxAttempts: p.tries}
	if p.timeout == 0 {
		return cfg, invalid("model-timeout", "0", "a duration such as 90s")
	}
	if p.given("model") {
		cfg.Name = p.model
	}
	return cfg, nil
}

// withStore runs do with the existing store, or with the sessions of --server.
func (p *program) withStore(ctx context.Context, do func(a *app.App) error) error {
	open, err := p.opener(storeOrServer)
	if err != nil {
		return err
	}
	return p.withApp(ctx, open, p.config(), do)
}

// withApp runs do with the parts that open opens, and with the sessions of --owner.
func (p *program) withApp(ctx context.Context, open opener, cfg app.Config, do func(a *app.App) error) error {
	a, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	if !p.allOwners { // only the local user's engine sees those
		a.Engine = a.Engine.Owned(cmp.Or(p.owner, p.self))
	}
	p.app, p.engine = a, a.Engine
	err = p.elsewhereOf(ctx, do(a))
	if closing := a.Close(); err == nil {
		err = closing
	}
	return err
}

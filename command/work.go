package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/panel"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/dialect/shortid"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/llm"
)

// work implements the commands think and plan.
type work struct {
	p       *program
	command string // think or plan
	model   modelFlags
	mcp     []string
	tokens  int
	steps   int // --steps of think; 0 for plan
	panel   panelChoice
}

func (w *work) add(c *cobra.Command) {
	f := c.Flags()
	w.model.add(f, "")
	f.StringArrayVar(&w.mcp, "mcp", nil, "command of an MCP server whose tools the model may call; repeatable")
	f.IntVar(&w.tokens, "max-tokens", 0, "maximum number of tokens, sent and received; 0 means no limit")
	w.p.addJSONFlag(c)
	w.p.addWidthFlag(c)
}

// problem returns the arguments, with - replaced by standard input.
func (w *work) problem(args []string) (string, error) {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a
		if a != "-" {
			continue
		}
		raw, err := io.ReadAll(io.LimitReader(w.p.in, plan.MaxProblem+1))
		if err != nil {
			return "", fmt.Errorf("cannot read standard input: %w", err)
		}
		parts[i] = string(raw)
	}
	text := strings.TrimSpace(strings.Join(parts, "\n\n"))
	if text == "" {
		return "", &usageError{msg: "the problem is empty", fix: "describe the problem, or pass - to read it from standard input"}
	}
	return text, nil
}

// begin creates a session for a problem and runs it.
func (w *work) begin(c *cobra.Command, table plan.Table, problem string) error {
	cfg, err := w.config(c)
	if err != nil {
		return err
	}
	// First, so that no store is created without a model.
	model, err := cfg.Model.Open()
	if err != nil {
		return err
	}
	return w.p.withApp(c.Context(), app.Open, cfg, func(a *app.App) error {
		return w.with(c.Context(), a, app.MachineConfig{Model: model, Table: table}, func(m *plan.Machine) error {
			id, err := shortid.New(nil)()
			if err != nil {
				return err
			}
			if err := m.Begin(sequent.WithContext(c.Context(), w.origin(model)), id, problem); err != nil {
				return err
			}
			return w.run(c.Context(), a, m, id)
		})
	})
}

// origin returns where a session of this command comes from.
func (w *work) origin(model llm.Model) sequent.Context {
	from := w.p.here("")
	from.Client, from.ClientVersion, from.Agent, from.Model = "sequent", buildInfo().Version, w.p.getenv("AGENT_ID"), model.Name()
	return from
}

// resume runs the session of the argument, or the latest incomplete one. The model
// is that of the flag, or the one that the session began with.
func (w *work) resume(c *cobra.Command, table plan.Table, args []string) error {
	cfg, err := w.config(c)
	if err != nil {
		return err
	}
	return w.p.withApp(c.Context(), app.OpenExisting, cfg, func(a *app.App) (err error) {
		var s *sequent.Session
		if len(args) > 0 {
			s, err = find(c.Context(), a.Engine, args[0])
		} else {
			s, err = w.unfinished(c.Context(), a.Engine)
		}
		if err != nil {
			return err
		}
		if st, ok := panel.StateOf(s); ok && w.command == "think" {
			cfg.Model.Name = cmp.Or(cfg.Model.Name, st.Model)
			model, err := cfg.Model.Open()
			if err != nil {
				return err
			}
			return w.resumePanel(c.Context(), a, model, s.ID(), st)
		}
		st, _ := plan.StateOf(s) // Run reports a session without a state
		cfg.Model.Name = cmp.Or(cfg.Model.Name, st.Model)
		model, err := cfg.Model.Open()
		if err != nil {
			return err
		}
		return w.with(c.Context(), a, app.MachineConfig{Model: model, Table: table}, func(m *plan.Machine) error {
			return w.run(c.Context(), a, m, s.ID())
		})
	})
}

// unfinished returns the latest incomplete session of this command in this project.
func (w *work) unfinished(ctx context.Context, e *sequent.Engine) (*sequent.Session, error) {
	for h, err := range e.AllSessions(ctx, sequent.Query{Project: w.p.here("").Project}) {
		if err != nil {
			return nil, err
		}
		if h.Dialect == w.command && h.State == sequent.Active {
			return e.Session(ctx, h.ID)
		}
	}
	return nil, &sequent.Error{
		Code: sequent.CodeSessionNotFound, Field: fieldID,
		Msg: "no incomplete session of sequent " + w.command, Fix: "pass the id of a session, as printed by sequent list",
	}
}

// config returns the configuration.
func (w *work) config(c *cobra.Command) (app.Config, error) {
	cfg := w.p.config()
	if w.tokens < 0 {
		return cfg, invalid("max-tokens", w.tokens, "a number of tokens, or 0 for no limit")
	}
	var err error
	cfg.Model, err = w.model.config(w.p, c)
	return cfg, err
}

// with starts the MCP servers and runs do with a machine that can call their tools.
func (w *work) with(ctx context.Context, a *app.App, cfg app.MachineConfig, do func(*plan.Machine) error) error {
	cfg.TokenBudget = w.tokens
	stderr := io.Discard // most servers write messages there
	if level, _ := w.p.level(); level <= slog.LevelDebug {
		stderr = w.p.err
	}
	for _, command := range w.mcp {
		phase, command := phaseOf(cfg.Table, command)
		tools, end, err := app.MCPTools(ctx, command, stderr)
		if err != nil {
			return err
		}
		defer end() //nolint:errcheck // the exit code of a third-party server does not matter
		if phase == nil {
			cfg.Tools = append(cfg.Tools, tools...)
		} else {
			phase.Tools = append(phase.Tools, tools...)
		}
	}
	return do(a.Machine(cfg))
}

// phaseOf splits "research=npx server" into the phase and the command. The phase is
// nil if the command is for all phases.
func phaseOf(table plan.Table, command string) (*plan.Phase, string) {
	name, rest, _ := strings.Cut(command, "=")
	for i := range table.Phases {
		if len(table.Phases) > 1 && table.Phases[i].Name == name {
			return &table.Phases[i], rest
		}
	}
	return nil, command
}

// run runs a session to its end and writes its events in the form of the output.
func (w *work) run(ctx context.Context, a *app.App, m *plan.Machine, id sequent.ID) error {
	p := w.p
	s, err := a.Engine.Session(ctx, id)
	if err != nil {
		return err
	}
	start := p.now()
	var out reporter
	switch {
	case p.json:
		out = newJSONReporter(w, a.Engine, s)
	case isTerminal(p.out) && isTerminal(p.in):
		out = &screenReporter{w: w, table: m.Table()}
	default:
		out = &lineReporter{w: w, engine: a.Engine, id: id, seen: s.Len()}
	}
	work := func(ctx context.Context) error {
		for e, err := range m.Run(ctx, id) {
			if err != nil {
				return err
			}
			if err := out.event(ctx, e); err != nil {
				return err
			}
		}
		return nil
	}
	if sr, ok := out.(*screenReporter); ok {
		_, err = p.runScreen(ctx, &screen{p: p, watcher: &watcher{engine: a.Engine, id: id}, quitLabel: "stops"},
			func(ctx context.Context, show func(activity)) error {
				sr.show = show
				return work(ctx)
			})
		if n := len(sr.drafts); n > 0 {
			fmt.Fprintf(p.err, "The answer broke off: %s not recorded.\n", draw.Count(n, "thought that the model was writing is", "thoughts that the model was writing are"))
		}
	} else {
		err = work(ctx)
	}
	// Show the stored session, also after a cancellation.
	s, loadErr := a.Engine.Session(context.WithoutCancel(ctx), id)
	if loadErr != nil {
		return errors.Join(err, loadErr)
	}
	st, _ := plan.StateOf(s)
	complete := st.State == m.Table().Final
	if err == nil || isCanceled(err) {
		if err := out.end(s, st, complete, p.now().Sub(start)); err != nil {
			return err
		}
	}
	switch {
	case complete:
		return nil
	case err != nil && !isCanceled(err) && (a.Place.Memory || isForeign(err)):
		return err // cannot be resumed
	case err != nil && !isCanceled(err):
		return &resumableError{err, w.resumeCommand(id)}
	case !p.json && a.Place.Memory:
		fmt.Fprintln(p.err, "Stopped. The session was in memory and is lost.")
	case !p.json:
		fmt.Fprintf(p.err, "Stopped. The session is kept as %s. To resume: %s\n", id, w.resumeCommand(id))
	}
	return errReported
}

// A resumableError is an error after which the session can be resumed.
type resumableError struct {
	err    error
	resume string // the command that resumes the session
}

func (e *resumableError) Error() string { return e.err.Error() }

func (e *resumableError) Unwrap() error { return e.err }

func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || llm.CodeOf(err) == llm.CodeCanceled
}

// isForeign reports whether the session belongs to another command.
func isForeign(err error) bool {
	e, ok := errors.AsType[*plan.Error](err)
	return ok && e.Code == plan.CodeNoPlan
}

// resumeCommand returns the command that resumes a session.
func (w *work) resumeCommand(id sequent.ID) string {
	words := []string{selfName(), w.command, "resume", string(id)}
	if w.p.store != "" {
		words = append(words, "--store", quoted(w.p.shownStore()))
	}
	if w.steps > 0 && w.steps != defaultThinkSteps {
		words = append(words, "--steps", strconv.Itoa(w.steps))
	}
	for _, t := range w.panel.times {
		words = append(words, "--panel-time", quoted(t))
	}
	if w.panel.calls > 0 {
		words = append(words, "--max-calls", strconv.Itoa(w.panel.calls))
	}
	for _, m := range w.mcp {
		words = append(words, "--mcp", quoted(m))
	}
	return strings.Join(words, " ")
}

// A reporter writes the events of a run.
type reporter interface {
	event(ctx context.Context, e plan.Event) error
	// end writes the result. Complete is false after a cancellation.
	end(s *sequent.Session, st plan.State, complete bool, took time.Duration) error
}

// summary returns the last line: thoughts, answers, tokens and time.
func (w *work) summary(s *sequent.Session, st plan.State, took time.Duration) string {
	took = took.Round(100 * time.Millisecond)
	if took >= time.Minute {
		took = took.Round(time.Second)
	}
	line := fmt.Sprintf("%s in %s of %s", draw.Count(s.Len(), "thought", "thoughts"), draw.Count(st.Steps, "answer", "answers"), cmp.Or(st.Model, "the model"))
	if st.Usage.Total() > 0 {
		line += fmt.Sprintf(", %s tokens sent, %s received", thousands(st.Usage.Input), thousands(st.Usage.Output))
	}
	return line + ", " + took.String()
}

// thousands formats a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

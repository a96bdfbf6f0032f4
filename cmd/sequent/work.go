package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/llm"
)

// A work is what think and plan have in common: a model works on a problem, in a
// session that grows.
type work struct {
	p       *program
	command string // think or plan
	model   modelFlags
	mcp     []string
	tokens  int
	steps   int // of think; 0 for those of plan
}

func (w *work) add(c *cobra.Command) {
	f := c.Flags()
	w.model.add(f, "", "")
	f.StringArrayVar(&w.mcp, "mcp", nil, "let the model call the tools of an MCP server that is started with `COMMAND`; can be given several times")
	f.IntVar(&w.tokens, "max-tokens", 0, "use at most `N` tokens, those that are sent and those that come back; 0 for any number")
	w.p.asJSON(c)
	w.p.hasWidth(c)
}

// problem returns what to work on: the arguments, a - among them standing for
// standard input.
func (w *work) problem(args []string) (string, error) {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a
		if a != "-" {
			continue
		}
		raw, err := io.ReadAll(io.LimitReader(w.p.in, plan.MaxProblem+1))
		if err != nil {
			return "", fmt.Errorf("standard input cannot be read: %w", err)
		}
		parts[i] = string(raw)
	}
	text := strings.TrimSpace(strings.Join(parts, "\n\n"))
	if text == "" {
		return "", &usageError{msg: "there is no problem to work on", fix: "say what it is, or pass - and pipe it in"}
	}
	return text, nil
}

// begin begins a session for a problem and works on it.
func (w *work) begin(c *cobra.Command, table plan.Table, problem string) (err error) {
	cfg, err := w.config(c)
	if err != nil {
		return err
	}
	// Without a model there is no use in making a store.
	model, err := cfg.Model.Open()
	if err != nil {
		return err
	}
	a, err := app.Open(c.Context(), cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return w.with(c.Context(), a, app.MachineConfig{Model: model, Table: table}, func(m *plan.Machine) error {
		id := sequent.ID(strings.ToLower(rand.Text()[:12]))
		if err := m.Begin(c.Context(), id, problem); err != nil {
			return err
		}
		return w.run(c.Context(), a, m, id)
	})
}

// resume goes on with the session that the argument names, or the latest that is
// not done, with the model that it was begun with if no flag names another.
func (w *work) resume(c *cobra.Command, table plan.Table, args []string) (err error) {
	cfg, err := w.config(c)
	if err != nil {
		return err
	}
	a, err := app.OpenExisting(c.Context(), cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	var s *sequent.Session
	if len(args) > 0 {
		s, err = find(c.Context(), a.Engine, args[0])
	} else {
		s, err = w.unfinished(c.Context(), a.Engine)
	}
	if err != nil {
		return err
	}
	st, _ := plan.StateOf(s) // if it has none, Run says so
	cfg.Model.Name = cmp.Or(cfg.Model.Name, st.Model)
	model, err := cfg.Model.Open()
	if err != nil {
		return err
	}
	return w.with(c.Context(), a, app.MachineConfig{Model: model, Table: table}, func(m *plan.Machine) error {
		return w.run(c.Context(), a, m, s.ID())
	})
}

// unfinished returns the latest session of this command that is not done.
func (w *work) unfinished(ctx context.Context, e *sequent.Engine) (*sequent.Session, error) {
	for q := (sequent.Query{}); ; {
		page, err := e.Sessions(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, h := range page.Headers {
			if h.Dialect == w.command && h.State == sequent.Active {
				return e.Session(ctx, h.ID)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil, &sequent.Error{
				Code: sequent.CodeSessionNotFound, Field: fieldID,
				Msg: "there is nothing unfinished to go on with", Fix: "name a session; sequent list shows them",
			}
		}
	}
}

// config returns what the flags say.
func (w *work) config(c *cobra.Command) (app.Config, error) {
	cfg := w.p.config()
	if w.tokens < 0 {
		return cfg, usagef("--max-tokens cannot be %d, only a number of tokens, or 0 for any number", w.tokens)
	}
	var err error
	cfg.Model, err = w.model.config(w.p, c)
	return cfg, err
}

// with starts the servers of tools and hands on a machine that can use them.
func (w *work) with(ctx context.Context, a *app.App, cfg app.MachineConfig, do func(*plan.Machine) error) error {
	cfg.TokenBudget = w.tokens
	said := io.Discard // what servers say for people: most say something
	if level, _ := w.p.level(); level <= slog.LevelDebug {
		said = w.p.err
	}
	for _, command := range w.mcp {
		phase, command := phaseOf(cfg.Table, command)
		tools, end, err := app.MCPTools(ctx, command, said)
		if err != nil {
			return err
		}
		defer end() //nolint:errcheck // how a server ends is its own affair
		if phase == nil {
			cfg.Tools = append(cfg.Tools, tools...)
		} else {
			phase.Tools = append(phase.Tools, tools...)
		}
	}
	return do(a.Machine(cfg))
}

// phaseOf returns the phase that a command line is meant for, as in
// "research=npx server", or nil for all.
func phaseOf(table plan.Table, command string) (*plan.Phase, string) {
	name, rest, _ := strings.Cut(command, "=")
	for i := range table.Phases {
		if len(table.Phases) > 1 && table.Phases[i].Name == name {
			return &table.Phases[i], rest
		}
	}
	return nil, command
}

// run works on a session to its end, in the way that suits the output.
func (w *work) run(ctx context.Context, a *app.App, m *plan.Machine, id sequent.ID) error {
	p := w.p
	s, err := a.Engine.Session(ctx, id)
	if err != nil {
		return err
	}
	begun := p.now()
	var t teller
	switch {
	case p.json:
		t = newJSONTeller(w, a.Engine, s)
	case isTerminal(p.out) && isTerminal(p.in):
		t = &screenTeller{w: w, table: m.Table()}
	default:
		t = &lineTeller{w: w, engine: a.Engine, id: id, seen: s.Len()}
	}
	work := func(ctx context.Context) error {
		for e, err := range m.Run(ctx, id) {
			if err != nil {
				return err
			}
			if err := t.tell(ctx, e); err != nil {
				return err
			}
		}
		return nil
	}
	if st, ok := t.(*screenTeller); ok {
		_, err = p.runScreen(ctx, &screen{p: p, watcher: &watcher{engine: a.Engine, id: id}, quits: "stops"},
			func(ctx context.Context, note func(string)) error {
				st.note = note
				return work(ctx)
			})
	} else {
		err = work(ctx)
	}
	// What was stored is shown, whatever happened.
	late := context.WithoutCancel(ctx)
	s, loading := a.Engine.Session(late, id)
	if loading != nil {
		return errors.Join(err, loading)
	}
	st, _ := plan.StateOf(s)
	complete := st.State == m.Table().Final
	if err == nil || stopped(err) {
		if err := t.end(s, st, complete, p.now().Sub(begun)); err != nil {
			return err
		}
	}
	switch {
	case complete:
		return nil
	case err != nil && !stopped(err) && (a.Place.Memory || foreign(err)):
		return err // there is nothing to go on with
	case err != nil && !stopped(err):
		return &keptError{err, w.resumption(id)}
	case !p.json && a.Place.Memory:
		fmt.Fprintln(p.err, "Stopped, and gone: it was in memory.")
	case !p.json:
		fmt.Fprintf(p.err, "Stopped, and kept as %s. To go on: %s\n", id, w.resumption(id))
	}
	return errQuiet
}

// A keptError is why a model's work did not come to its end.
type keptError struct {
	err    error
	resume string // the command that goes on
}

// Error returns what went wrong.
func (e *keptError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *keptError) Unwrap() error { return e.err }

// stopped reports whether an error is that somebody wanted to stop.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || llm.CodeOf(err) == llm.CodeCanceled
}

// foreign reports whether an error is that the session is not of this command.
func foreign(err error) bool {
	e, ok := errors.AsType[*plan.Error](err)
	return ok && e.Code == plan.CodeNoPlan
}

// resumption is the command that goes on with a session.
func (w *work) resumption(id sequent.ID) string {
	words := []string{thisCommand().name(), w.command, "resume", string(id)}
	if w.p.store != "" {
		words = append(words, "--store", quoted(w.p.shownStore()))
	}
	if w.steps > 0 && w.steps != thinkSteps {
		words = append(words, "--steps", strconv.Itoa(w.steps))
	}
	for _, m := range w.mcp {
		words = append(words, "--mcp", quoted(m))
	}
	return strings.Join(words, " ")
}

// A teller tells what happens while a model works.
type teller interface {
	tell(ctx context.Context, e plan.Event) error
	// end tells how it came out, or where it was stopped.
	end(s *sequent.Session, st plan.State, complete bool, took time.Duration) error
}

// summary is the last line: what it cost.
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

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

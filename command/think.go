package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

func runThink(p *program, ctx context.Context) (result, error) {
	return nil, p.begin(ctx, plan.Thinking(p.steps))
}

func runPlan(p *program, ctx context.Context) (result, error) {
	switch {
	case p.mermaid && len(p.args) > 0:
		return nil, misuse(p.cmd, "unexpected argument %q: --mermaid takes no problem", p.args[0])
	case p.mermaid:
		return document(plan.Planning().Mermaid()), nil
	case len(p.args) == 0:
		return nil, misuse(p.cmd, "%s requires PROBLEM", p.cmd.CommandPath())
	}
	return nil, p.begin(ctx, plan.Planning())
}

// runResume runs the session of the argument, or the latest one. The model
// is that of the flag, or the one that the session began with.
func runResume(p *program, ctx context.Context) (result, error) {
	table := plan.Planning()
	command := p.cmd.Parent().Name()
	if command == "think" {
		table = plan.Thinking(p.steps)
	}
	s, _, err := p.session(ctx, p.args)
	if err != nil {
		return nil, err
	}
	st, _ := plan.StateOf(s.Header()) // Run reports a session without a state
	model, err := p.openModel(st.Model)
	if err != nil {
		return nil, err
	}
	w := &work{program: p, command: command, table: table}
	return nil, w.with(ctx, model, func(m *plan.Machine) error { return w.run(ctx, m, s.ID()) })
}

// A work is a run of think or plan.
type work struct {
	*program
	command string // think or plan
	table   plan.Table
}

// problem returns the arguments, with - replaced by standard input.
func (p *program) problem() (string, error) {
	parts := slices.Clone(p.args)
	if i := slices.Index(parts, "-"); i >= 0 {
		raw, err := io.ReadAll(io.LimitReader(p.in, plan.MaxProblem+1))
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
func (p *program) begin(ctx context.Context, table plan.Table) error {
	problem, err := p.problem()
	if err != nil {
		return err
	}
	model, err := p.openModel("") // first, so that no store is created without a model
	if err != nil {
		return err
	}
	w := &work{program: p, command: p.cmd.Name(), table: table}
	return p.with(ctx, newStore, func() error {
		return w.with(ctx, model, func(m *plan.Machine) error {
			newID := dialect.ShortIDs(nil)
			if w.command == "plan" { // seed 000 wants UUIDs
				newID = dialect.UUIDs(nil, w.now)
			}
			id, err := newID()
			if err != nil {
				return err
			}
			from := p.here("")
			from.Client, from.ClientVersion, from.Agent, from.Model = "sequent", buildInfo().Version, p.getenv("AGENT_ID"), model.Name()
			if err := m.Begin(sequent.WithOrigin(ctx, func() sequent.Origin { return from }), id, problem); err != nil {
				return err
			}
			return w.run(ctx, m, id)
		})
	})
}

// openModel returns the model that the flags or the environment name, or else that of a session.
func (p *program) openModel(name string) (llm.Model, error) {
	cfg := p.modelConfig()
	cfg.Model = cmp.Or(cfg.Model, name)
	return openai.New(cfg)
}

// with starts the MCP servers and runs do with a machine that can call their tools.
func (w *work) with(ctx context.Context, model llm.Model, do func(*plan.Machine) error) error {
	cfg := plan.Config{Model: model, Table: w.table, TokenBudget: w.maxTokens}
	stderr := io.Discard // most servers write messages there
	if w.level() <= slog.LevelDebug {
		stderr = w.err
	}
	for _, command := range w.mcp {
		phase, command := phaseOf(w.table, command)
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
	return do(w.app.Machine(cfg))
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
func (w *work) run(ctx context.Context, m *plan.Machine, id sequent.ID) error {
	s, err := w.engine.Session(ctx, id)
	if err != nil {
		return err
	}
	start := w.now()
	out, screen := w.reporter(s)
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
	if screen != nil {
		err = screen.run(ctx, id, work)
	} else {
		err = work(ctx)
	}
	// Show the stored session, also after a cancellation.
	s, loadErr := w.engine.Session(context.WithoutCancel(ctx), id)
	if loadErr != nil {
		return errors.Join(err, loadErr)
	}
	st, _ := plan.StateOf(s.Header())
	complete := st.State == m.Table().Final || st.State == plan.Exhausted
	if complete || err == nil || isCanceled(err) {
		out.end(s, st, complete, w.now().Sub(start))
	}
	return w.outcome(id, complete, err)
}

// outcome returns the error of a run, and says how to resume the session.
func (w *work) outcome(id sequent.ID, complete bool, err error) error {
	lost := w.app.Place.Memory || sequent.CodeOf(err) == plan.CodeNoPlan // the session belongs to another command
	switch {
	case complete:
		return err // that the steps ran out
	case err != nil && !isCanceled(err):
		if !lost {
			w.resume = w.resumeCommand(id)
		}
		return err
	case !w.json && lost:
		w.tell("Stopped. The session was in memory and is lost.")
	case !w.json:
		w.tell("Stopped. The session is kept as %s. To resume: %s", id, w.resumeCommand(id))
	}
	return exit(exitFailure)
}

func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || llm.CodeOf(err) == llm.CodeCanceled
}

// resumeCommand returns the command that resumes a session, but for flags such as --mcp.
func (w *work) resumeCommand(id sequent.ID) string { return w.next(w.command, "resume", string(id)) }

// summary returns the last line: thoughts, answers, tokens and time.
func (w *work) summary(s *sequent.Session, st plan.State, took time.Duration) string {
	line := fmt.Sprintf("%s in %s of %s",
		printable.Count(s.Len(), "thought", "thoughts"), printable.Count(st.Steps, "answer", "answers"), cmp.Or(st.Model, "the model"))
	if st.Usage.Total() > 0 {
		line += fmt.Sprintf(", %d tokens sent, %d received", st.Usage.Input, st.Usage.Output)
	}
	return line + ", " + took.Round(100*time.Millisecond).String()
}

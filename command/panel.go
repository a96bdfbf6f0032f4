package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/panel"
	"github.com/sequent-dev/sequent/dialect/shortid"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/llm"
)

// A panelChoice has the flags of sequent think --panel.
type panelChoice struct {
	on    bool
	views []string // NAME or NAME=INSTRUCTIONS
	times []string // DURATION or NAME=DURATION
	calls int
}

func (f *panelChoice) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.times, "panel-time", nil, "with --panel: maximum time of a perspective, such as 90s or creative=2m; repeatable (default: 5m)")
	c.Flags().IntVar(&f.calls, "max-calls", 0, "with --panel: maximum number of answers of the model; 0 means no limit")
}

// begins adds the flags that only a new panel has.
func (f *panelChoice) begins(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "panel", false, "let several perspectives work at the same time, and join them")
	c.Flags().StringArrayVar(&f.views, "perspective", nil, "with --panel: factual, critical, optimistic, creative or NAME=INSTRUCTIONS; repeatable (default: these four)")
}

// perspectives returns the perspectives of the flags.
func (f *panelChoice) perspectives() ([]panel.Perspective, error) {
	known := panel.Perspectives()
	if len(f.views) == 0 {
		return known, nil
	}
	var views []panel.Perspective
	for _, v := range f.views {
		name, instructions, own := strings.Cut(v, "=")
		p := panel.Perspective{Name: strings.TrimSpace(name), Instructions: strings.TrimSpace(instructions)}
		for _, k := range known {
			if !own && k.Name == p.Name {
				p = k
			}
		}
		if p.Instructions == "" {
			return nil, invalid("perspective", v, "factual, critical, optimistic, creative, or a name with instructions: NAME=INSTRUCTIONS")
		}
		views = append(views, p)
	}
	return views, nil
}

// configure returns a panel with the perspectives, their times and their tools. The caller
// calls stop at the end.
func (w *work) configure(ctx context.Context, a *app.App, model llm.Model, views []panel.Perspective) (p *panel.Panel, stop func(), err error) {
	cfg := panel.Config{
		Engine: a.Engine, Model: model, Perspectives: views, Steps: w.panelSteps(), TokenBudget: w.tokens, CallBudget: w.panel.calls,
	}
	var stops []func() error
	stop = func() {
		for _, s := range stops {
			_ = s() // the exit code of a third-party server does not matter
		}
	}
	for _, text := range w.panel.times {
		name, duration, named := strings.Cut(text, "=")
		if !named {
			name, duration = "", text
		}
		var d span
		if err := d.Set(duration); err != nil || d == 0 {
			return nil, stop, invalid("panel-time", text, "a duration such as 90s, or one of a perspective: creative=2m")
		}
		if !named {
			cfg.Timeout = time.Duration(d)
			continue
		}
		v := viewOf(cfg.Perspectives, name)
		if v == nil {
			return nil, stop, invalid("panel-time", text, "the name of a perspective")
		}
		v.Timeout = time.Duration(d)
	}
	stderr := io.Discard // most servers write messages there
	if level, _ := w.p.level(); level <= slog.LevelDebug {
		stderr = w.p.err
	}
	for _, command := range w.mcp {
		name, rest, _ := strings.Cut(command, "=")
		v := viewOf(cfg.Perspectives, name)
		if v != nil {
			command = rest
		}
		tools, end, err := app.MCPTools(ctx, command, stderr)
		if err != nil {
			return nil, stop, err
		}
		stops = append(stops, end)
		for i := range cfg.Perspectives {
			if v == nil || v == &cfg.Perspectives[i] {
				cfg.Perspectives[i].Tools = append(cfg.Perspectives[i].Tools, tools...)
			}
		}
	}
	p, err = panel.New(cfg)
	return p, stop, err
}

func viewOf(views []panel.Perspective, name string) *panel.Perspective {
	for i := range views {
		if views[i].Name == name {
			return &views[i]
		}
	}
	return nil
}

// panelSteps returns the maximum number of answers of a perspective.
func (w *work) panelSteps() int {
	const most = 4
	if w.steps == defaultThinkSteps {
		return most
	}
	return w.steps
}

// beginPanel creates a session for a problem and runs its panel.
func (w *work) beginPanel(c *cobra.Command, problem string) error {
	views, err := w.panel.perspectives()
	if err != nil {
		return err
	}
	cfg, err := w.config(c)
	if err != nil {
		return err
	}
	model, err := cfg.Model.Open() // first, so that no store is created without a model
	if err != nil {
		return err
	}
	return w.p.withApp(c.Context(), app.Open, cfg, func(a *app.App) error {
		p, stop, err := w.configure(c.Context(), a, model, views)
		defer stop()
		if err != nil {
			return err
		}
		id, err := shortid.New(nil)()
		if err != nil {
			return err
		}
		if err := p.Begin(sequent.WithContext(c.Context(), w.origin(model)), id, problem); err != nil {
			return err
		}
		return w.runPanel(c.Context(), a, p, id, p.Estimate(problem), len(views))
	})
}

// resumePanel resumes the panel of a session.
func (w *work) resumePanel(ctx context.Context, a *app.App, model llm.Model, id sequent.ID, st panel.State) error {
	var views []panel.Perspective
	for _, v := range st.Views {
		views = append(views, panel.Perspective{Name: v.Name, Instructions: v.Instructions})
	}
	p, stop, err := w.configure(ctx, a, model, views)
	defer stop()
	if err != nil {
		return err
	}
	return w.runPanel(ctx, a, p, id, p.Estimate(st.Problem), len(views))
}

// A panelEvent is an event of a panel in JSON output.
type panelEvent struct {
	Event       string           `json:"event"` // begin, thought, call, retry, perspective or end
	Session     sequent.ID       `json:"session"`
	Perspective string           `json:"perspective,omitempty"`
	Estimate    *panel.Estimate  `json:"estimate,omitempty"`
	Thought     *jsonThought     `json:"thought,omitempty"`
	Call        *llm.Call        `json:"call,omitempty"`
	Reason      string           `json:"reason,omitempty"`
	State       string           `json:"state,omitempty"` // ended, cut or failed
	Text        string           `json:"text,omitempty"`
	Synthesis   *panel.Synthesis `json:"synthesis,omitempty"`
	Calls       int              `json:"calls,omitempty"`
	Usage       *llm.Usage       `json:"usage,omitempty"`
	Seconds     float64          `json:"seconds,omitempty"`
}

// runPanel runs a panel to its end and writes its events: the answer to standard output,
// and the rest to standard error.
func (w *work) runPanel(ctx context.Context, a *app.App, pl *panel.Panel, id sequent.ID, cost panel.Estimate, views int) error {
	p, start := w.p, w.p.now()
	report := &lineReporter{w: w}
	write := func(e panelEvent) error {
		e.Session = id
		return writeJSON(p.out, e)
	}
	if p.json {
		if err := write(panelEvent{Event: "begin", Estimate: &cost}); err != nil {
			return err
		}
	} else {
		report.say(fmt.Sprintf("%s: %d perspectives, %d to %d answers, %s to %s tokens", id, views,
			cost.Calls[0], cost.Calls[1], thousands(cost.Tokens[0]), thousands(cost.Tokens[1])))
	}
	var done *panel.Synthesis
	var err error
	for e, failed := range pl.Run(ctx, id) {
		if err = failed; err != nil {
			break
		}
		if e.Done != nil {
			done = e.Done
		}
		if p.json {
			err = w.panelJSON(write, id, e)
		} else {
			w.panelLine(report, e)
		}
		if err != nil {
			break
		}
	}
	s, loadErr := a.Engine.Session(context.WithoutCancel(ctx), id)
	if loadErr != nil {
		return errors.Join(err, loadErr)
	}
	st, _ := panel.StateOf(s)
	took := p.now().Sub(start)
	switch {
	case p.json && (err == nil || isCanceled(err)):
		if err := write(panelEvent{Event: "end", Text: s.Conclusion(), Synthesis: done, Calls: st.Calls, Usage: &st.Usage, Seconds: took.Seconds()}); err != nil {
			return err
		}
	case done != nil:
		answer := s.Conclusion()
		if isTerminal(p.out) { // neutralise control characters
			answer = strings.Join(draw.Lines(answer, p.drawing().Charset), "\n")
		}
		if err := p.printf("%s", answer); err != nil {
			return err
		}
	}
	if !p.json {
		for _, dropped := range zero(done).Dropped {
			report.say("left out, because it cites no thought that exists: " + dropped)
		}
		for _, name := range zero(done).Silent {
			report.say("nothing cites the perspective " + name)
		}
		report.say(fmt.Sprintf("%s in %s of %s, %s tokens sent, %s received, %s", draw.Count(s.Len(), "thought", "thoughts"),
			draw.Count(st.Calls, "answer", "answers"), cmp.Or(st.Model, "the model"), thousands(st.Usage.Input), thousands(st.Usage.Output),
			took.Round(100*time.Millisecond)))
	}
	switch {
	case done != nil:
		return nil
	case err != nil && !isCanceled(err) && a.Place.Memory:
		return err
	case err != nil && !isCanceled(err):
		return &resumableError{err, w.resumeCommand(id)}
	case !p.json:
		fmt.Fprintf(p.err, "Stopped. The session is kept as %s. To resume: %s\n", id, w.resumeCommand(id))
	}
	return errReported
}

func zero(s *panel.Synthesis) panel.Synthesis {
	if s == nil {
		return panel.Synthesis{}
	}
	return *s
}

// panelLine writes an event as a line.
func (w *work) panelLine(report *lineReporter, e panel.Event) {
	switch {
	case e.Retry != nil:
		report.say(e.Perspective + ": retrying: " + e.Retry.Err.Error())
	case e.Calling != nil:
		report.say(e.Perspective + ": calls " + e.Calling.Call.Name)
	case e.Thought.Seq > 0:
		fmt.Fprint(w.p.err, draw.Plain([]draw.Line{draw.Thought(e.Thought, w.p.drawing())}))
	case e.Ended != nil && e.Ended.Why != "":
		report.say(fmt.Sprintf("the perspective %s %s: %s", e.Perspective, e.Ended.State, e.Ended.Why))
	case e.Ended != nil:
		report.say("the perspective " + e.Perspective + " ended")
	}
}

func (w *work) panelJSON(write func(panelEvent) error, id sequent.ID, e panel.Event) error {
	out := panelEvent{Perspective: e.Perspective, Usage: &e.Usage}
	switch {
	case e.Retry != nil:
		out.Event, out.Reason = "retry", e.Retry.Err.Error()
	case e.Calling != nil:
		out.Event, out.Call = "call", &e.Calling.Call
	case e.Thought.Seq > 0:
		thought := newJSONThought(id, e.Thought)
		out.Event, out.Thought = "thought", &thought
	case e.Ended != nil:
		out.Event, out.State, out.Reason = "perspective", e.Ended.State, e.Ended.Why
	default:
		return nil
	}
	return write(out)
}

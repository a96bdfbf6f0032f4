package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/llm"
)

// A screenReporter shows the model's current output on a screen: thoughts as drafts, and
// other text in the last row.
type screenReporter struct {
	w      *work
	table  plan.Table
	show   func(activity)
	output string  // of the current step, without calls
	drafts []draft // of the current step
	shown  time.Time
	cut    bool // an answer was truncated
}

// cutOff reports a truncated answer.
const cutOff = "the model's answer was truncated at its maximum length"

func (t *screenReporter) event(_ context.Context, e plan.Event) error {
	const interval = 50 * time.Millisecond
	position := e.State
	for _, p := range t.table.Phases {
		if p.Name == e.State && e.Step > 0 {
			position = fmt.Sprintf("%s %d/%d", e.State, e.Step, p.Steps)
		}
	}
	switch {
	case e.Writing != nil:
		t.piece(*e.Writing)
		t.note(position)
		return nil
	case e.Reasoning != "" || e.Text != "":
		t.restart()
		t.output += e.Reasoning + e.Text
		if now := time.Now(); now.Sub(t.shown) > interval {
			t.shown = now
			t.note(position + ": " + tail(t.output, 60))
		}
		return nil
	case e.Retry != nil:
		t.breakOff()
		t.note(position + ": retrying: " + e.Retry.Err.Error())
	case e.Calling != nil:
		t.note(position + ": calls " + e.Calling.Call.Name)
	case e.Answer != nil:
		t.cut = t.cut || e.Answer.Stop == llm.StopLength
		t.drafts = nil // calls follow, which record them
		t.note(position)
	default:
		t.note(position)
	}
	t.output = ""
	return nil
}

// note shows a note in the last row, above it the drafts.
func (t *screenReporter) note(note string) { t.show(activity{note, slices.Clone(t.drafts)}) }

// tail returns the last characters of a text, on one line.
func tail(s string, maxRunes int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > maxRunes {
		return "…" + string(r[len(r)-maxRunes:])
	}
	return string(r)
}

func (t *screenReporter) end(s *sequent.Session, st plan.State, _ bool, took time.Duration) error {
	p := t.w.p
	o := p.drawing()
	o.Full = true
	if err := p.print(draw.Session(s, o).Lines...); err != nil {
		return err
	}
	last := []draw.Line{nil}
	if t.cut {
		last = append(last, draw.Line{{Text: draw.One(cutOff, o.Charset), Role: draw.Meta}})
	}
	return p.print(append(last, draw.Line{{Text: draw.One(t.w.summary(s, st, took), o.Charset), Role: draw.Meta}})...)
}

// A lineReporter writes the answer to standard output, and the thoughts to standard
// error, one per line.
type lineReporter struct {
	w      *work
	engine *sequent.Engine
	id     sequent.ID
	seen   int // number of thoughts already written
}

func (t *lineReporter) event(ctx context.Context, e plan.Event) error {
	if e.Retry != nil {
		t.say("retrying: " + e.Retry.Err.Error())
	}
	if e.Answer != nil && e.Answer.Stop == llm.StopLength {
		t.say(cutOff)
	}
	if e.Called != nil || e.Moved != nil {
		if err := t.thoughts(ctx); err != nil {
			return err
		}
	}
	if m := e.Moved; m != nil && len(m.To) > 0 {
		t.say(fmt.Sprintf("%s, then %s", m.From, m.To))
	}
	return nil
}

func (t *lineReporter) thoughts(ctx context.Context) error {
	s, err := t.engine.Session(ctx, t.id)
	if err != nil {
		return err
	}
	o := t.w.p.drawing()
	for th := range s.Since(t.seen) {
		fmt.Fprint(t.w.p.err, draw.Plain([]draw.Line{draw.Thought(th, o)}))
		t.seen = th.Seq
	}
	return nil
}

func (t *lineReporter) say(what string) {
	o := t.w.p.drawing()
	fmt.Fprint(t.w.p.err, draw.Plain([]draw.Line{draw.Cut(draw.Line{{Text: "-- " + draw.One(what, o.Charset)}}, o)}))
}

func (t *lineReporter) end(s *sequent.Session, st plan.State, complete bool, took time.Duration) error {
	if complete {
		answer := s.Conclusion()
		if isTerminal(t.w.p.out) { // neutralise control characters
			answer = strings.Join(draw.Lines(answer, t.w.p.drawing().Charset), "\n")
		}
		if err := t.w.p.printf("%s", answer); err != nil {
			return err
		}
	}
	t.say(t.w.summary(s, st, took))
	return nil
}

// A jsonReporter writes events as JSON, one object per line.
type jsonReporter struct {
	w      *work
	engine *sequent.Engine
	id     sequent.ID
	seen   int
	begin  jsonEvent // written before the first event
}

// A jsonEvent is an event in JSON output.
type jsonEvent struct {
	Event   string       `json:"event"` // begin, answer, thought, call, result, retry, move or end
	Session string       `json:"session"`
	State   string       `json:"state,omitempty"` // the machine's state, mostly a phase
	Step    int          `json:"step,omitempty"`  // step of the phase
	Problem string       `json:"problem,omitempty"`
	Text    string       `json:"text,omitempty"`
	Calls   []llm.Call   `json:"calls,omitempty"`
	Call    *llm.Call    `json:"call,omitempty"`
	Cut     bool         `json:"cut,omitempty"` // the answer was truncated
	Failed  bool         `json:"failed,omitempty"`
	Thought *jsonThought `json:"thought,omitempty"`
	From    string       `json:"from,omitempty"`
	On      string       `json:"on,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Model   string       `json:"model,omitempty"`
	Usage   *llm.Usage   `json:"usage,omitempty"`
	Seconds float64      `json:"seconds,omitempty"`
}

func newJSONReporter(w *work, e *sequent.Engine, s *sequent.Session) *jsonReporter {
	st, _ := plan.StateOf(s)
	return &jsonReporter{w: w, engine: e, id: s.ID(), seen: s.Len(), begin: jsonEvent{Event: "begin", State: st.State, Problem: st.Problem}}
}

func (t *jsonReporter) write(e jsonEvent) error {
	if first := t.begin; first.Event != "" {
		t.begin.Event = ""
		if err := t.write(first); err != nil {
			return err
		}
	}
	e.Session = string(t.id)
	return writeJSON(t.w.p.out, e)
}

func (t *jsonReporter) event(ctx context.Context, e plan.Event) error {
	out := jsonEvent{State: e.State, Step: e.Step}
	switch {
	case e.Retry != nil:
		out.Event, out.Reason = "retry", e.Retry.Err.Error()
	case e.Answer != nil:
		out.Event, out.Text, out.Calls, out.Usage, out.Model = "answer", e.Answer.Message.Text, e.Answer.Message.Calls, &e.Answer.Usage, e.Answer.Model
		out.Cut = e.Answer.Stop == llm.StopLength
	case e.Calling != nil:
		out.Event, out.Call = "call", &e.Calling.Call
	case e.Called != nil:
		if err := t.thoughts(ctx, e); err != nil {
			return err
		}
		call := e.Called.Call
		call.Args = "" // already in the call event
		out.Event, out.Call, out.Text, out.Failed, out.Seconds = "result", &call, e.Called.Text, e.Called.Reply.Failed, e.Called.Took.Seconds()
	case e.Moved != nil:
		if err := t.thoughts(ctx, e); err != nil {
			return err
		}
		out.Event, out.From, out.On, out.Text = "move", e.Moved.From, e.Moved.On, e.Result
	default:
		return nil // pieces of an answer are written as a whole
	}
	return t.write(out)
}

func (t *jsonReporter) thoughts(ctx context.Context, e plan.Event) error {
	s, err := t.engine.Session(ctx, t.id)
	if err != nil {
		return err
	}
	for th := range s.Since(t.seen) {
		thought := newJSONThought(t.id, th)
		if err := t.write(jsonEvent{Event: "thought", State: e.State, Step: e.Step, Thought: &thought}); err != nil {
			return err
		}
		t.seen = th.Seq
	}
	return nil
}

func (t *jsonReporter) end(s *sequent.Session, st plan.State, _ bool, took time.Duration) error {
	return t.write(jsonEvent{Event: "end", State: st.State, Text: s.Conclusion(), Model: st.Model, Usage: &st.Usage, Seconds: took.Seconds()})
}

package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/llm"
)

// A reporter writes the events of a run.
type reporter interface {
	event(ctx context.Context, e plan.Event) error
	// end writes the result. Complete is false after a cancellation.
	end(s *sequent.Session, st plan.State, complete bool, took time.Duration)
}

// reporter returns the reporter for the form of the output.
func (w *work) reporter(s *sequent.Session) reporter {
	r := runLog{work: w, id: s.ID(), seen: s.Len()}
	switch {
	case w.json:
		st, _ := plan.StateOf(s)
		j := &jsonReporter{runLog: r}
		j.write(jsonEvent{Event: "begin", State: st.State, Problem: st.Problem})
		return j
	case isTerminal(w.out) && isTerminal(w.in):
		return &screenReporter{work: w}
	}
	return &lineReporter{r}
}

// A runLog is how much of a run's session was written.
type runLog struct {
	*work
	id   sequent.ID
	seen int // thoughts
}

// thoughts calls do with the thoughts that were recorded since the last call.
func (r *runLog) thoughts(ctx context.Context, do func(sequent.Thought)) error {
	s, err := r.engine.Session(ctx, r.id)
	if err != nil {
		return err
	}
	for t := range s.Since(r.seen) {
		do(t)
		r.seen = t.Seq
	}
	return nil
}

// cutOff reports a truncated answer.
const cutOff = "the model's answer was truncated at its maximum length"

// A screenReporter shows what the model does in the last row of a screen.
type screenReporter struct {
	*work
	note   func(string)
	output string // of the current step
	shown  time.Time
	cut    bool // an answer was truncated
}

// run runs work beside a screen of the session.
func (t *screenReporter) run(ctx context.Context, id sequent.ID, work func(context.Context) error) error {
	s, err := t.screenOf(ctx, t.engine, id)
	if err != nil {
		return err
	}
	defer s.changes.Close()
	s.quitLabel = "stops"
	return s.run(ctx, func(ctx context.Context, note func(string)) error {
		t.note = note
		return work(ctx)
	})
}

func (t *screenReporter) event(_ context.Context, e plan.Event) error {
	const interval = 50 * time.Millisecond
	position := e.State
	for _, p := range t.table.Phases {
		if p.Name == e.State && e.Step > 0 {
			position = fmt.Sprintf("%s %d/%d", e.State, e.Step, p.Steps)
		}
	}
	text := ""
	switch {
	case e.Writing != nil:
		text = "writes a call of " + e.Writing.Name
	case e.Reasoning != "" || e.Text != "":
		t.output += e.Reasoning + e.Text
		text = tail(t.output, 60)
	case e.Retry != nil:
		text = "retrying: " + e.Retry.Err.Error()
	case e.Calling != nil:
		text = "calls " + e.Calling.Call.Name
	case e.Answer != nil:
		t.cut = t.cut || e.Answer.Stop == llm.StopLength
	}
	switch {
	case e.Reasoning == "" && e.Text == "":
		t.output = ""
	case time.Since(t.shown) < interval:
		return nil
	default:
		t.shown = time.Now()
	}
	if text != "" {
		position += ": " + text
	}
	t.note(position)
	return nil
}

// tail returns the last characters of a text, on one line.
func tail(s string, maxRunes int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > maxRunes {
		return "…" + string(r[len(r)-maxRunes:])
	}
	return string(r)
}

func (t *screenReporter) end(s *sequent.Session, st plan.State, _ bool, took time.Duration) {
	pg := t.page()
	o := pg.Options
	o.Full = true
	pg.add(draw.Session(s, o).Lines...)
	pg.add(nil)
	if t.cut {
		pg.add(draw.Line{{Text: pg.one(cutOff), Role: draw.Meta}})
	}
	pg.add(draw.Line{{Text: pg.one(t.summary(s, st, took)), Role: draw.Meta}})
	t.put(pg.lines...)
}

// A lineReporter writes the answer to standard output, and the thoughts to standard
// error, one per line.
type lineReporter struct{ runLog }

func (t *lineReporter) event(ctx context.Context, e plan.Event) (err error) {
	if e.Retry != nil {
		t.say("retrying: " + e.Retry.Err.Error())
	}
	if e.Answer != nil && e.Answer.Stop == llm.StopLength {
		t.say(cutOff)
	}
	if e.Called != nil || e.Moved != nil {
		err = t.thoughts(ctx, func(th sequent.Thought) {
			fmt.Fprint(t.err, draw.Plain([]draw.Line{draw.Thought(th, t.drawing())}))
		})
	}
	if m := e.Moved; m != nil && len(m.To) > 0 {
		t.say(fmt.Sprintf("%s, then %s", m.From, m.To))
	}
	return err
}

func (t *lineReporter) say(what string) {
	o := t.drawing()
	fmt.Fprint(t.err, draw.Plain([]draw.Line{draw.Cut(draw.Line{{Text: "-- " + printable.Line(what)}}, o)}))
}

func (t *lineReporter) end(s *sequent.Session, st plan.State, complete bool, took time.Duration) {
	if complete {
		t.failed(t.printf("%s", answerOf(s, st)))
	}
	t.say(t.summary(s, st, took))
}

// answerOf returns the conclusion, or the result of the last phase if the steps ran out.
func answerOf(s *sequent.Session, st plan.State) string {
	if st.State == plan.Exhausted {
		return st.Results[len(st.Results)-1].Text
	}
	return s.Conclusion()
}

// A jsonReporter writes events as JSON, one object per line.
type jsonReporter struct{ runLog }

// A jsonEvent is an event in JSON output.
type jsonEvent struct {
	Event   string       `json:"event"` // begin, answer, thought, call, result, retry, move or end
	Session sequent.ID   `json:"session"`
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

func (t *jsonReporter) write(e jsonEvent) {
	e.Session = t.id
	t.emit(e)
}

func (t *jsonReporter) event(ctx context.Context, e plan.Event) error {
	if e.Called != nil || e.Moved != nil {
		if err := t.thoughts(ctx, func(th sequent.Thought) {
			t.write(jsonEvent{Event: "thought", State: e.State, Step: e.Step, Thought: new(newJSONThought(t.id, th))})
		}); err != nil {
			return err
		}
	}
	out := jsonEvent{State: e.State, Step: e.Step}
	switch {
	case e.Retry != nil:
		out.Event, out.Reason = "retry", e.Retry.Err.Error()
	case e.Answer != nil:
		a := e.Answer
		out.Event, out.Text, out.Calls, out.Usage, out.Model = "answer", a.Message.Text, a.Message.Calls, &a.Usage, a.Model
		out.Cut = a.Stop == llm.StopLength
	case e.Calling != nil:
		out.Event, out.Call = "call", &e.Calling.Call
	case e.Called != nil:
		c := e.Called
		call := c.Call
		call.Args = "" // already in the call event
		out.Event, out.Call, out.Text, out.Failed, out.Seconds = "result", &call, c.Text, c.Reply.Failed, c.Took.Seconds()
	case e.Moved != nil:
		out.Event, out.From, out.On, out.Text = "move", e.Moved.From, e.Moved.On, e.Result
	default:
		return nil // pieces of an answer are written as a whole
	}
	t.write(out)
	return nil
}

func (t *jsonReporter) end(s *sequent.Session, st plan.State, _ bool, took time.Duration) {
	t.write(jsonEvent{Event: "end", State: st.State, Text: answerOf(s, st), Model: st.Model, Usage: &st.Usage, Seconds: took.Seconds()})
}

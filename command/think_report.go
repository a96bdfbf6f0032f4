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

// reporter returns the reporter for the form of the output, which may be a screen.
func (w *work) reporter(s *sequent.Session) (reporter, *screenReporter) {
	if isTerminal(w.out) && isTerminal(w.in) && !w.json {
		screen := &screenReporter{work: w}
		return screen, screen
	}
	return &streamReporter{w, s.ID(), s.Len()}, nil
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
	w, err := t.watcherOf(ctx, t.engine, id)
	if err != nil {
		return err
	}
	defer w.changes.Close()
	return (&screen{watcher: w, quitLabel: "stops"}).run(ctx, func(ctx context.Context, note func(string)) error {
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
	case e.Call != nil:
		text = "writes a call of " + e.Call.Name
	case e.Reasoning != "" || e.Text != "":
		t.output += e.Reasoning + e.Text
		text = tail(t.output, 60)
	case e.Retry != nil:
		text = "retrying: " + e.Retry.Err.Error()
	case e.Calling != nil:
		text = "calls " + e.Calling.Name
	case e.Response != nil:
		t.cut = t.cut || e.Response.Stop == llm.StopLength
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
		pg.add(draw.Line{{Text: printable.Line(cutOff), Role: draw.Meta}})
	}
	pg.add(draw.Line{{Text: printable.Line(t.summary(s, st, took)), Role: draw.Meta}})
	t.put(pg.lines...)
}

// A streamReporter writes the answer to standard output and the thoughts to standard error, one per line; with
// --json the events, one object per line.
type streamReporter struct {
	*work
	id   sequent.ID
	seen int // thoughts
}

// A jsonEvent is an event in JSON output.
type jsonEvent struct {
	Event   string       `json:"event"` // answer, thought, result, retry, move or end
	Session sequent.ID   `json:"session"`
	State   string       `json:"state,omitempty"` // the machine's state, mostly a phase
	Step    int          `json:"step,omitempty"`  // step of the phase
	Text    string       `json:"text,omitempty"`
	Calls   []llm.Call   `json:"calls,omitempty"` // of an answer
	Call    string       `json:"call,omitempty"`  // id of the call of a result
	Cut     bool         `json:"cut,omitempty"`   // the answer was truncated
	Failed  bool         `json:"failed,omitempty"`
	Thought *jsonThought `json:"thought,omitempty"`
	From    string       `json:"from,omitempty"`
	On      string       `json:"on,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Model   string       `json:"model,omitempty"`
	Usage   *llm.Usage   `json:"usage,omitempty"`
	Seconds float64      `json:"seconds,omitempty"`
}

func (t *streamReporter) event(ctx context.Context, e plan.Event) error {
	if e.Called != nil || e.Moved != nil {
		s, err := t.engine.Session(ctx, t.id)
		if err != nil {
			return err
		}
		for th := range s.Since(t.seen) {
			if t.seen = th.Seq; t.json {
				t.emit(jsonEvent{Event: "thought", Session: t.id, State: e.State, Step: e.Step, Thought: &jsonThought{t.id, th}})
			} else {
				fmt.Fprint(t.err, draw.Plain([]draw.Line{draw.Thought(th, t.drawing())}))
			}
		}
	}
	said, out := "", jsonEvent{Session: t.id, State: e.State, Step: e.Step}
	switch {
	case e.Retry != nil:
		said = "retrying: " + e.Retry.Err.Error()
		out.Event, out.Reason = "retry", e.Retry.Err.Error()
	case e.Response != nil:
		a := e.Response
		if out.Cut = a.Stop == llm.StopLength; out.Cut {
			said = cutOff
		}
		out.Event, out.Text, out.Calls, out.Usage, out.Model = "answer", a.Message.Text, a.Message.Calls, &a.Usage, a.Model
	case e.Called != nil:
		c := e.Called
		out.Event, out.Call, out.Text, out.Failed, out.Seconds = "result", c.Call.ID, c.Text, c.Reply.Failed, c.Took.Seconds()
	case e.Moved != nil:
		if len(e.Moved.To) > 0 {
			said = fmt.Sprintf("%s, then %s", e.Moved.From, e.Moved.To)
		}
		out.Event, out.From, out.On, out.Text = "move", e.Moved.From, e.Moved.On, e.Result
	}
	switch { // pieces of an answer are written as a whole
	case t.json && out.Event != "":
		t.emit(out)
	case !t.json && said != "":
		t.say(said)
	}
	return nil
}

func (t *streamReporter) say(what string) {
	fmt.Fprint(t.err, draw.Plain([]draw.Line{draw.Cut(draw.Line{{Text: "-- " + printable.Line(what)}}, t.drawing())}))
}

func (t *streamReporter) end(s *sequent.Session, st plan.State, complete bool, took time.Duration) {
	answer := s.Conclusion()
	if st.State == plan.Exhausted { // the steps ran out: the result of the last phase
		answer = st.Results[len(st.Results)-1].Text
	}
	if t.json {
		t.emit(jsonEvent{Event: "end", Session: t.id, State: st.State, Text: answer, Model: st.Model, Usage: &st.Usage, Seconds: took.Seconds()})
		return
	}
	if complete {
		pg := t.page()
		pg.say("%s", answer)
		t.put(pg.lines...)
	}
	t.say(t.summary(s, st, took))
}

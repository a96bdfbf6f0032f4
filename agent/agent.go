// Package agent runs a language model in a loop with tools: the model answers, the
// tools that it calls run, and their results go back to the model, until it
// answers without a call or a budget is used up.
//
// [Run] yields each event before it continues. A caller that stores each event
// first can resume an interrupted run, also in another process. Package agent/plan
// does.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

// A Config configures a run.
type Config struct {
	Model llm.Model   // required
	Tools []tool.Tool // tools that the model may call; duplicate names get a numeric suffix
	// Messages is the conversation before the run. It ends with the message that the
	// model shall answer.
	Messages []llm.Message
	Progress Progress // where to resume; the zero Progress begins the run

	// MaxSteps is the maximum number of answers of the model; 0 means 20. The first
	// answer whose calls were all refused does not count, and its number is used again.
	MaxSteps int
	// TokenBudget limits the total usage of the run, in tokens as the provider
	// counts them. The answer that exceeds it is the last one. 0 means no limit.
	TokenBudget int
}

// A Progress is the state of a run after an event. Run never changes the slice of a
// Progress that it has yielded.
type Progress struct {
	Messages []llm.Message `json:"messages,omitempty"` // answers and results, after Config.Messages
	Step     int           `json:"step,omitzero"`      // answers that count
	Spared   bool          `json:"spared,omitzero"`    // an answer did not count
	// Begun is the id of a call that began and has no result, if it may have effects.
	// A resumed run does not repeat it: the model is told and must decide.
	Begun string    `json:"begun,omitzero"`
	Usage llm.Usage `json:"usage"`
}

// The limits of a run, unless its Config has others.
const (
	defaultMaxSteps = 20
	toolTimeout     = 5 * time.Minute
	maxResult       = 32 << 10 // bytes of a tool's result that the model receives; a note replaces the rest
)

// An Event is an event of a run: one of the model, with a piece of an answer or the whole, or one of
// the other fields.
type Event struct {
	Step     int      // number of the step, from 1
	Progress Progress // state of the run after a Response, Calling, Called or Done
	llm.Event
	Calling *llm.Call // a tool call begins
	Called  *Called   // a tool call ended
	Done    *Outcome  // the run ended; the last event
}

// A Called is a tool call that ended.
type Called struct {
	Call  llm.Call
	Reply tool.Reply // the tool's reply, or a failed one that explains why there is none
	Text  string     // the result as the model receives it, beside the images of Reply
	// Refusal says in a few words why the call was refused, as in "path missing".
	// It is empty if the call succeeded, and if it is not known what it did.
	Refusal string
	Err     error // why the tool gave no reply, for logs; nil if it did
	Took    time.Duration
}

// A Reason is the reason why a run ended.
type Reason string

// The values of Reason.
const (
	Answered    Reason = "answered"      // the model answered without a call
	CutOff      Reason = "cut_off"       // the last answer reached its length limit
	OutOfSteps  Reason = "out_of_steps"  // Config.MaxSteps was reached
	OutOfTokens Reason = "out_of_tokens" // Config.TokenBudget was used up
)

// An Outcome is the result of a run.
type Outcome struct {
	Reason Reason
	Text   string // text of the last answer; may be empty
}

// Run runs an agent and yields its events. Only the last event has Done set. An
// error ends the run without such an event: an error of the model ([*llm.Error])
// or of ctx. Errors of tools do not end the run; the model receives them. Run
// panics if cfg.Model is nil.
//
// Consecutive calls of read-only tools run concurrently. Other calls run one after
// the other, in the model's order.
//
// In the last step the model is told that it is the last and must not call tools. If it
// does all the same, the calls are made and the run ends with OutOfSteps.
func Run(ctx context.Context, cfg Config) iter.Seq2[Event, error] {
	if cfg.Model == nil {
		panic("agent: Config needs a Model")
	}
	return func(yield func(Event, error) bool) {
		r := &run{Config: cfg, yield: yield, tools: newToolbox(cfg.Tools)}
		r.MaxSteps, r.Progress.Step = cmp.Or(cfg.MaxSteps, defaultMaxSteps), max(cfg.Progress.Step, 0)
		if err := r.run(ctx); err != nil && !r.stopped {
			yield(Event{Step: r.step}, err)
		}
	}
}

type run struct {
	Config
	yield   func(Event, error) bool
	stopped bool // the caller broke out of the loop
	tools   *toolbox
	step    int      // of the events
	stop    llm.Stop // of the last answer; empty if another run received it
}

// emit yields an event and reports whether to continue.
func (r *run) emit(e Event) bool {
	e.Step, e.Progress = r.step, r.Progress
	r.stopped = r.stopped || !r.yield(e, nil)
	return !r.stopped
}

// run does what the progress says, until the run is done. It returns nil also if the caller
// breaks out of the loop.
func (r *run) run(ctx context.Context) (err error) {
	for p := &r.Progress; err == nil && !r.stopped; {
		r.step = max(p.Step, 1)
		answer, results := p.latest()
		calls := unanswered(answer, results)
		switch {
		case len(calls) > 0:
			err = r.call(ctx, calls)
		case answer.Role == llm.Assistant && len(results) == 0 && r.stop == llm.StopLength:
			return r.done(CutOff, answer.Text)
		case answer.Role == llm.Assistant && len(results) == 0:
			return r.done(Answered, answer.Text)
		case p.Step >= r.MaxSteps:
			return r.done(OutOfSteps, answer.Text)
		case r.TokenBudget > 0 && p.Usage.Total() >= r.TokenBudget:
			return r.done(OutOfTokens, answer.Text)
		default:
			r.step = p.Step + 1
			err = r.ask(ctx)
		}
	}
	return err
}

func (r *run) done(reason Reason, text string) error {
	r.emit(Event{Done: &Outcome{reason, text}})
	return nil
}

// ask requests the next answer.
func (r *run) ask(ctx context.Context) error {
	p := &r.Progress
	q := llm.Request{Messages: slices.Concat(r.Messages, p.Messages), Tools: r.tools.offered}
	if r.step == r.MaxSteps && len(q.Tools) > 0 {
		q.NoCalls = true
		q.Messages = append(q.Messages, llm.Message{ // for providers that ignore NoCalls
			Role: llm.User, Text: "This is the last step. Call no tools: answer now, with what you have.",
		})
	}
	for e, err := range r.Model.Stream(ctx, q) {
		if err != nil {
			return err
		}
		if e.Response != nil {
			m := e.Response.Message
			m.Reasoning = "" // not sent back
			p.add(m)
			p.Step, p.Usage, r.stop = r.step, p.Usage.Plus(e.Response.Usage), e.Response.Stop
		}
		if !r.emit(Event{Event: e}) || e.Response != nil {
			return nil
		}
	}
	return fmt.Errorf("agent: the stream of model %s ended without a response", r.Model.Name())
}

// add adds a message, to a slice that the events before do not share.
func (p *Progress) add(m llm.Message) { p.Messages = append(slices.Clip(p.Messages), m) }

// latest returns the last answer and its results. Without an answer it returns a zero message.
func (p *Progress) latest() (answer llm.Message, results []llm.Message) {
	i := len(p.Messages)
	for i > 0 && p.Messages[i-1].Role == llm.Result {
		i--
	}
	if i > 0 {
		answer = p.Messages[i-1]
	}
	return answer, p.Messages[i:]
}

// unanswered returns the calls of an answer that have no results.
func unanswered(answer llm.Message, results []llm.Message) (calls []llm.Call) {
	for _, c := range answer.Calls {
		if !slices.ContainsFunc(results, func(m llm.Message) bool { return m.CallID == c.ID }) {
			calls = append(calls, c)
		}
	}
	return calls
}

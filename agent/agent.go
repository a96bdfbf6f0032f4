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
	// Messages is the conversation so far. It ends with the message that the model
	// shall answer, or with calls that have no results; Run makes these first.
	Messages []llm.Message

	// MaxSteps is the maximum number of answers of the model; 0 means 20. The first
	// answer whose calls were all refused does not count, and its number is used again.
	MaxSteps int
	// TokenBudget limits the total usage of the run, in tokens as the provider
	// counts them. The answer that exceeds it is the last one. 0 means no limit.
	TokenBudget int
	FirstStep   int       // number of the first step of a resumed run; 0 means 1
	Used        llm.Usage // usage before the first step

}

// The limits of a run, unless its Config has others.
const (
	defaultMaxSteps = 20
	toolTimeout     = 5 * time.Minute
	maxResult       = 32 << 10 // bytes of a tool's result that the model receives; a note replaces the rest
)

// An Event is an event of a run. Besides Step, exactly one field is set.
type Event struct {
	Step      int            // number of the step, from 1
	Text      string         // the next piece of an answer
	Reasoning string         // the next piece of the reasoning before an answer
	Writing   *llm.CallPiece // the next piece of a tool call that the model is writing
	Retry     *llm.Retry     // the request is retried; discard the pieces of this step
	Answer    *llm.Response  // the model answered
	Calling   *Calling       // a tool call begins
	Called    *Called        // a tool call ended
	Done      *Outcome       // the run ended; the last event
}

// A Calling is a tool call that begins.
type Calling struct {
	Call llm.Call
	// Repeatable reports whether the tool is read-only or idempotent.
	Repeatable bool
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
	Reason   Reason
	Text     string        // text of the last answer; may be empty
	Steps    int           // number of the last step
	Usage    llm.Usage     // total usage, Config.Used included
	Messages []llm.Message // the whole conversation
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
		r := &run{
			Config: cfg, yield: yield, tools: newToolbox(cfg.Tools),
			messages: slices.Clone(cfg.Messages), usage: cfg.Used,
			maxSteps: cmp.Or(cfg.MaxSteps, defaultMaxSteps), step: max(cfg.FirstStep, 1),
		}
		if err := r.run(ctx); err != nil && !r.stopped {
			yield(Event{Step: r.step}, err)
		}
	}
}

type run struct {
	Config
	yield    func(Event, error) bool
	stopped  bool // the caller broke out of the loop
	tools    *toolbox
	messages []llm.Message
	usage    llm.Usage
	maxSteps int
	step     int
	spared   bool // an answer did not count
}

// emit yields an event and reports whether to continue.
func (r *run) emit(e Event) bool {
	e.Step = r.step
	r.stopped = r.stopped || !r.yield(e, nil)
	return !r.stopped
}

// run returns nil also if the caller breaks out of the loop.
func (r *run) run(ctx context.Context) error {
	if calls := unanswered(r.messages); len(calls) > 0 {
		r.step = max(r.step-1, 1)
		if _, err := r.call(ctx, calls); err != nil || r.stopped {
			return err
		}
		r.step++
	}
	refused, latest := refusedAnswers(r.messages)
	if r.spared = refused > 0; refused == 1 && latest {
		r.step = max(r.step-1, 1)
	}
	text := "" // of the last answer
	for ; r.step <= r.maxSteps; r.step++ {
		if r.TokenBudget > 0 && r.usage.Total() >= r.TokenBudget {
			return r.done(OutOfTokens, text)
		}
		answer, err := r.ask(ctx)
		if err != nil || r.stopped {
			return err
		}
		r.usage = r.usage.Plus(answer.Usage)
		r.messages = append(r.messages, answer.Message)
		text = answer.Message.Text
		if !r.emit(Event{Answer: &answer}) {
			return nil
		}
		if len(answer.Message.Calls) == 0 {
			if answer.Stop == llm.StopLength {
				return r.done(CutOff, text)
			}
			return r.done(Answered, text)
		}
		results, err := r.call(ctx, answer.Message.Calls)
		if err != nil || r.stopped {
			return err
		}
		if !r.spared && allRefused(results) {
			r.spared = true
			r.step--
		}
	}
	r.step = max(r.step-1, 1)
	return r.done(OutOfSteps, text)
}

func (r *run) done(reason Reason, text string) error {
	r.emit(Event{Done: &Outcome{
		Reason: reason, Text: text, Steps: r.step, Usage: r.usage, Messages: r.messages,
	}})
	return nil
}

// ask requests the next answer.
func (r *run) ask(ctx context.Context) (llm.Response, error) {
	q := llm.Request{Messages: r.messages, Tools: r.tools.offered}
	if r.step == r.maxSteps && len(q.Tools) > 0 {
		q.NoCalls = true
		q.Messages = append(slices.Clip(q.Messages), llm.Message{ // for providers that ignore NoCalls
			Role: llm.User, Text: "This is the last step. Call no tools: answer now, with what you have.",
		})
	}
	for e, err := range r.Model.Stream(ctx, q) {
		switch {
		case err != nil:
			return llm.Response{}, err
		case e.Response != nil:
			return *e.Response, nil
		case !r.emit(Event{Text: e.Text, Reasoning: e.Reasoning, Writing: e.Call, Retry: e.Retry}):
			return llm.Response{}, nil
		}
	}
	return llm.Response{}, fmt.Errorf("agent: the stream of model %s ended without a response", r.Model.Name())
}

func allRefused(results []Called) bool {
	return !slices.ContainsFunc(results, func(c Called) bool { return c.Refusal == "" })
}

// refusedAnswers returns the number of answers in a conversation whose calls were all
// refused, and whether the latest answer is one.
func refusedAnswers(messages []llm.Message) (n int, latest bool) {
	for i, m := range messages {
		if m.Role != llm.Assistant {
			continue
		}
		latest = len(m.Calls) > 0
		for _, result := range messages[i+1:] {
			if result.Role != llm.Result {
				break
			}
			latest = latest && result.Refusal != ""
		}
		if latest {
			n++
		}
	}
	return n, latest
}

// unanswered returns the calls at the end of a conversation that have no results.
func unanswered(messages []llm.Message) []llm.Call {
	i := len(messages) - 1
	for i >= 0 && messages[i].Role == llm.Result {
		i--
	}
	if i < 0 {
		return nil
	}
	var calls []llm.Call
	for _, c := range messages[i].Calls {
		if !slices.ContainsFunc(messages[i+1:], func(m llm.Message) bool { return m.CallID == c.ID }) {
			calls = append(calls, c)
		}
	}
	return calls
}

// Package agent runs a language model in a loop: it answers, the tools that it
// asks for are called, it gets their answers, until it is done or a budget is.
//
// [Run] yields what happens as it happens, and goes on when the caller has taken
// it: a caller that stores each event before it asks for the next one can go on
// from what it has stored, in another process if need be. Package agent/plan does.
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

// A Config says what an agent works with.
type Config struct {
	Model llm.Model   // required
	Tools []tool.Tool // what the model may call; a name that is taken gets a number
	// Messages are the conversation so far, and end with what the model is to
	// answer. If they end with calls that have no results, these are made first.
	Messages []llm.Message

	Steps int // how often the model is asked, at most; 0 means 20
	// Tokens bounds what all answers may use together, as the provider counts.
	// The model is not asked again once they are used up. 0 means no bound.
	Tokens int
	// Stop is asked after each step that would be followed by another, and ends
	// the run if it reports true. Nil never does.
	Stop func(Step) bool

	First int       // the number of the first step, for a run that goes on; 0 means 1
	Used  llm.Usage // what was used before that

	Temperature *float64      // see llm.Request
	MaxTokens   int           // of an answer; see llm.Request
	Caller      tool.Caller   // on whose behalf tools are called
	ToolTime    time.Duration // how long a tool may take; 0 means 5 minutes
	// MaxResult is how many bytes of a tool's answer the model gets to see; 0
	// means 32 KiB. The rest is left out, and the model is told so.
	MaxResult int
}

// The defaults of a Config.
const (
	DefaultSteps     = 20
	defaultToolTime  = 5 * time.Minute
	defaultMaxResult = 32 << 10
)

// A Step is an answer of the model, and what its calls came to.
type Step struct {
	Number  int // from 1
	Answer  llm.Response
	Results []Called // in the order of the calls
}

// An Event is something that happened. Beside Step, exactly one field is set.
type Event struct {
	Step      int           // of the run, from 1
	Text      string        // the next piece of an answer
	Reasoning string        // the next piece of what the model thinks before it speaks
	Retry     *llm.Retry    // the model is asked again: pieces of this step are void
	Answer    *llm.Response // the model has answered
	Calling   *Calling      // a tool is about to be called
	Called    *Called       // a tool has answered
	Done      *Outcome      // nothing follows
}

// A Calling is a call that is about to be made.
type Calling struct {
	Call llm.Call
	// Repeatable means that the tool says that a second call does no harm.
	Repeatable bool
}

// A Called is a call that was made.
type Called struct {
	Call  llm.Call
	Reply tool.Reply // what the tool answered, or what the model is told instead
	Text  string     // what the model gets to see of it
	Err   error      // why there is no answer of the tool, for logs; nil if there is
	Took  time.Duration
}

// A Reason says why a run ended.
type Reason string

// The values of Reason.
const (
	Answered    Reason = "answered"      // the model called no tool
	CutOff      Reason = "cut_off"       // the last answer had no room for more
	OutOfSteps  Reason = "out_of_steps"  // the model wanted to go on
	OutOfTokens Reason = "out_of_tokens" // the model wanted to go on
	Stopped     Reason = "stopped"       // by Config.Stop
)

// An Outcome is how a run ended.
type Outcome struct {
	Reason   Reason
	Text     string        // of the last answer; may be empty
	Steps    int           // the number of the last step
	Usage    llm.Usage     // what was used, Config.Used included
	Messages []llm.Message // the whole conversation
}

// Run runs an agent until it is done, and yields what happens. The last event,
// and no other, has Done set, unless an error ends the run: one of the model
// ([*llm.Error]), or that ctx is done. What goes wrong with a tool is told to the
// model. Run panics if there is no model.
//
// Tools that only read are called at once where the model asks for several; the
// others one after the other, in the order in which it asks.
//
// On the last step the model is told that it is the last.
func Run(ctx context.Context, cfg Config) iter.Seq2[Event, error] {
	if cfg.Model == nil {
		panic("agent: Config needs a Model")
	}
	return func(yield func(Event, error) bool) {
		r := &run{
			Config: cfg, yield: yield, tools: newToolbox(cfg.Tools),
			messages: slices.Clone(cfg.Messages), usage: cfg.Used,
			steps: cmp.Or(cfg.Steps, DefaultSteps), step: max(cfg.First, 1),
		}
		if err := r.run(ctx); err != nil && !r.left {
			yield(Event{Step: r.step}, err)
		}
	}
}

// A run is one run of an agent.
type run struct {
	Config
	yield    func(Event, error) bool
	left     bool // the caller has had enough
	tools    *toolbox
	messages []llm.Message
	usage    llm.Usage
	steps    int
	step     int
}

// tell yields an event and reports whether to go on.
func (r *run) tell(e Event) bool {
	e.Step = r.step
	r.left = r.left || !r.yield(e, nil)
	return !r.left
}

// run returns an error, or nil at the end and also when the caller has left.
func (r *run) run(ctx context.Context) error {
	if calls := unanswered(r.messages); len(calls) > 0 {
		r.step = max(r.step-1, 1)
		if _, err := r.call(ctx, calls); err != nil || r.left {
			return err
		}
		r.step++
	}
	last := Step{Number: r.step}
	for ; r.step <= r.steps; r.step++ {
		if r.Tokens > 0 && r.usage.Total() >= r.Tokens {
			return r.done(OutOfTokens, last)
		}
		answer, err := r.ask(ctx)
		if err != nil || r.left {
			return err
		}
		r.usage = r.usage.Plus(answer.Usage)
		r.messages = append(r.messages, answer.Message)
		last = Step{Number: r.step, Answer: answer}
		if !r.tell(Event{Answer: &answer}) {
			return nil
		}
		if len(answer.Message.Calls) == 0 {
			if answer.Stop == llm.StopLength {
				return r.done(CutOff, last)
			}
			return r.done(Answered, last)
		}
		if last.Results, err = r.call(ctx, answer.Message.Calls); err != nil || r.left {
			return err
		}
		if r.step < r.steps && r.Stop != nil && r.Stop(last) {
			return r.done(Stopped, last)
		}
	}
	r.step = max(r.step-1, 1)
	return r.done(OutOfSteps, last)
}

func (r *run) done(why Reason, last Step) error {
	r.tell(Event{Done: &Outcome{
		Reason: why, Text: last.Answer.Message.Text, Steps: r.step, Usage: r.usage, Messages: r.messages,
	}})
	return nil
}

// ask asks the model.
func (r *run) ask(ctx context.Context) (llm.Response, error) {
	q := llm.Request{
		Messages: r.messages, Tools: r.tools.offered,
		Temperature: r.Temperature, MaxTokens: r.MaxTokens,
	}
	if r.step == r.steps && r.steps > 1 && len(q.Tools) > 0 {
		q.Messages = append(slices.Clip(q.Messages), llm.Message{
			Role: llm.User, Text: "This is the last step. Call no more tools: answer now, with what you have.",
		})
	}
	for e, err := range r.Model.Stream(ctx, q) {
		switch {
		case err != nil:
			return llm.Response{}, err
		case e.Response != nil:
			return *e.Response, nil
		case !r.tell(Event{Text: e.Text, Reasoning: e.Reasoning, Retry: e.Retry}):
			return llm.Response{}, nil
		}
	}
	return llm.Response{}, fmt.Errorf("agent: the model %s ended its answer without one", r.Model.Name())
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

package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

type run struct {
	Config
	id      sequent.ID
	yield   func(Event, error) bool
	stopped bool  // the caller broke out of the loop
	st      State // the stored state

	thinkTool string // name of the tool that records thoughts
	thinking  string // id of its call
}

// emit yields an event and reports whether to continue.
func (r *run) emit(e Event) bool {
	e.State = r.st.State
	r.stopped = r.stopped || !r.yield(e, nil)
	return !r.stopped
}

// run returns nil also if the caller breaks out of the loop.
func (r *run) run(ctx context.Context) error {
	s, err := r.Engine.Session(ctx, r.id)
	if err != nil {
		return err
	}
	st, ok := StateOf(s.Header())
	if !ok || st.Machine != r.Table.Name {
		return sequent.Errorf(CodeNoPlan, "", "pass the id of a session that was",
			"session %s was not created by sequent %s", r.id, r.Table.Name)
	}
	r.st = st
	if r.st.State == Failed {
		if err := r.resume(ctx); err != nil || r.stopped {
			return err
		}
	}
	for r.st.State != r.Table.Final && r.st.State != Exhausted {
		p, ok := r.Table.phase(r.st.State)
		if !ok {
			return unknown(r.st.State)
		}
		if err := r.phase(ctx, p); err != nil || r.stopped {
			return err
		}
	}
	if r.stopped || len(r.st.Results) == 0 {
		return nil
	}
	last, on := r.st.Results[len(r.st.Results)-1], Done
	if r.st.State == Exhausted {
		on = RanOut
	}
	if !r.emit(Event{Moved: &Transition{From: last.Phase, On: on, To: r.st.State}, Result: last.Text}) || on == Done {
		return nil
	}
	return sequent.Errorf(CodeExhausted, "", "read what the session has, and begin again with another model",
		"the steps ran out before the model answered, in %s", strings.Join(r.st.RanOut, " and "))
}

func unknown(phase string) error {
	return sequent.Errorf(CodeNoPlan, "", "update sequent", "unknown phase %q", phase)
}

// commit changes the stored state and the session in one commit.
func (r *run) commit(ctx context.Context, change func(st *State, c *sequent.Change) error) error {
	var next State
	_, err := r.Engine.Update(ctx, r.id, func(c *sequent.Change) (err error) {
		next, err = r.change(c, change)
		return err
	})
	if err == nil {
		r.st = next
	}
	return err
}

// change changes the state of a session, unless another process has changed it.
func (r *run) change(c *sequent.Change, change func(st *State, c *sequent.Change) error) (State, error) {
	st, ok := StateOf(c.Session().Header())
	if !ok || st.Writes != r.st.Writes {
		return st, sequent.Errorf(CodeTaken, "", "watch the session, or resume it when the other process has ended",
			"another process is working on session %s", r.id)
	}
	if err := change(&st, c); err != nil {
		return st, err
	}
	return st, st.put(c)
}

// resume leaves the state Failed.
func (r *run) resume(ctx context.Context) error {
	var failed Fault
	if r.st.Fault != nil {
		failed = *r.st.Fault
	}
	to := failed.Phase
	if _, ok := r.Table.phase(to); !ok {
		return unknown(to)
	}
	err := r.commit(ctx, func(st *State, c *sequent.Change) error {
		if failed.Code == string(CodeNoAnswer) {
			st.enter(to, c.Session()) // restart the phase
		}
		st.State, st.Fault = to, nil
		return nil
	})
	if err == nil {
		r.emit(Event{Moved: &Transition{Failed, Resume, to}})
	}
	return err
}

// phase runs a phase until its result is stored.
func (r *run) phase(ctx context.Context, p Phase) error {
	tools := r.tools(p)
	var outcome *agent.Outcome
	for e, err := range agent.Run(ctx, agent.Config{
		Model: r.Model, Tools: tools, MaxSteps: p.Steps, TokenBudget: r.TokenBudget,
		Messages: r.st.prompt(p, len(r.Table.Phases) == 1), Progress: r.st.Progress,
	}) {
		if err == nil {
			err = r.store(ctx, e)
		}
		if err != nil {
			return r.fail(ctx, p, err)
		}
		if e.Done != nil {
			outcome = e.Done
		} else if !r.emit(Event{Event: e}) {
			return nil
		}
	}
	if outcome.Reason == agent.OutOfTokens {
		return r.fail(ctx, p, sequent.Errorf(CodeOutOfTokens, "", "resume with a larger budget",
			"the plan has used %d tokens of a budget of %d", r.st.Usage.Total(), r.TokenBudget))
	}
	return r.finish(ctx, p, outcome.Text, outcome.Reason != agent.OutOfSteps)
}

// tools returns the tools of a phase, beginning with the one that records thoughts.
func (r *run) tools(p Phase) []tool.Tool {
	var pending *State
	t := r.Think(r.id, func(_ context.Context, c *sequent.Change) error {
		if c.Session().Version() == 0 {
			return sequent.Errorf(sequent.CodeInvalidThought, "clearSession", "revise what is wrong instead",
				"this session cannot be cleared while it is worked on")
		}
		next, err := r.change(c, func(st *State, c *sequent.Change) error {
			c.SetState(sequent.Active) // the tool may have completed the session
			st.Messages = append(slices.Clip(st.Messages), llm.Message{
				Role: llm.Result, CallID: r.thinking,
				Text: fmt.Sprintf("Recorded. The session has %d thoughts.", c.Session().Len()),
			})
			return nil
		})
		pending = &next
		return err
	})
	record := t.Call
	t.Call = func(ctx context.Context, c tool.Call) (tool.Reply, error) {
		pending = nil
		reply, err := record(ctx, c)
		if err == nil && !reply.Failed && pending != nil {
			r.st = *pending
		}
		return reply, err
	}
	r.thinkTool = t.Name
	return slices.Concat([]tool.Tool{t}, p.Tools, r.Tools)
}

// store stores the progress of an event that changes it. A call of the tool that records
// thoughts is not stored as begun: its thought and its result are stored in one commit.
func (r *run) store(ctx context.Context, e agent.Event) error {
	if e.Calling != nil && e.Calling.Name == r.thinkTool {
		r.thinking = e.Calling.ID
		return nil
	}
	if e.Response == nil && e.Called == nil && (e.Calling == nil || e.Progress.Begun == "") {
		return nil
	}
	return r.commit(ctx, func(st *State, _ *sequent.Change) error {
		st.Progress = e.Progress
		if e.Response != nil {
			st.Steps, st.Model = st.Steps+1, r.Model.Name()
		}
		return nil
	})
}

// fail moves the machine to Failed and returns the error. An external error does
// not change the state.
func (r *run) fail(ctx context.Context, p Phase, err error) error {
	if external(ctx, err) {
		return err
	}
	stored := r.commit(context.WithoutCancel(ctx), func(st *State, _ *sequent.Change) error {
		st.State, st.Fault = Failed, fault(p.Name, err)
		return nil
	})
	if stored != nil {
		return errors.Join(err, stored)
	}
	r.emit(Event{Moved: &Transition{p.Name, Fail, Failed}})
	return err
}

// finish stores the result of a phase and moves on. Without an answer the result is what the
// phase has come to.
func (r *run) finish(ctx context.Context, p Phase, text string, answered bool) error {
	if text = clean(text); text == "" || !answered {
		s, err := r.Engine.Session(ctx, r.id)
		if err != nil {
			return err
		}
		text = r.fallbackResult(s)
	}
	if text == "" {
		return r.fail(ctx, p, sequent.Errorf(CodeNoAnswer, "", "resume to repeat the phase, or choose another model",
			"the phase %s ended without an answer: %s", p.Name, r.st.happened()))
	}
	to := r.Table.after(p.Name)
	final := to == r.Table.Final
	err := r.commit(ctx, func(st *State, c *sequent.Change) error {
		st.Results = append(slices.Clip(st.Results), Result{p.Name, text})
		if !answered {
			st.RanOut = append(slices.Clip(st.RanOut), p.Name)
		}
		if final && st.RanOut != nil {
			to = Exhausted
		}
		if !final || c.Session().Len() == 0 {
			if err := record(c, p.Name, text, r.Engine.Limits().Text); err != nil {
				return err
			}
		}
		if to == r.Table.Final {
			c.Conclude(text)
			c.SetState(sequent.Completed)
		}
		st.enter(to, c.Session())
		return nil
	})
	if err != nil || final {
		return err
	}
	r.emit(Event{Moved: &Transition{p.Name, Done, to}, Result: text})
	return nil
}

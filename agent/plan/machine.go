// Package plan takes an agent through phases, each with a task, tools and a
// budget of steps, and keeps where it is in the session that the agent thinks in.
//
// Every answer of the model and every result of a tool is stored before the
// machine goes on. Whatever ends the process, [Machine.Run] goes on in another one
// from what was stored: the model is not asked again for an answer that it gave,
// a thought is not recorded twice, and a tool is not called again if it may have
// done something that a second call would do again.
package plan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

// A Config says what a machine works with.
type Config struct {
	Engine *sequent.Engine // required; keeps the sessions
	Model  llm.Model       // required, but for machines that are only looked at
	Table  Table           // which phases there are; the zero Table means Planning
	// Think makes the tool that records the model's thoughts in a session. The
	// tool has to call beside in the change that records a thought, after it.
	// Required with a Model.
	Think func(id sequent.ID, beside func(context.Context, *sequent.Session) error) tool.Tool
	Tools []tool.Tool // what the model may call in every phase, beside those of the phase
	// Tokens bounds what all phases may use together; 0 means no bound. A plan
	// that has used them up fails, and can go on with more.
	Tokens      int
	Temperature *float64 // see llm.Request
}

// A Machine runs plans. It is safe for concurrent use; a plan is run by one at a
// time, and a second one is told so.
type Machine struct{ cfg Config }

// New returns a machine. It panics if the table makes none, or something that is
// required is missing.
func New(cfg Config) *Machine {
	if cfg.Table.Name == "" && cfg.Table.Phases == nil {
		cfg.Table = Planning()
	}
	cfg.Table.check()
	if cfg.Engine == nil || cfg.Model != nil && cfg.Think == nil {
		panic("plan: Config needs an Engine, and Think beside a Model")
	}
	return &Machine{cfg}
}

// maxProblem bounds a problem, in bytes.
const maxProblem = 1 << 20

// Begin begins a session for a problem, under an ID that the caller has chosen
// and that is not taken.
func (m *Machine) Begin(ctx context.Context, id sequent.ID, problem string) error {
	problem = strings.TrimSpace(strings.ToValidUTF8(problem, "\uFFFD"))
	if problem == "" {
		return &Error{Code: CodeNoProblem, Msg: "there is no problem to work on", Fix: "say what it is"}
	}
	if len(problem) > maxProblem {
		return &Error{
			Code: CodeNoProblem, Msg: fmt.Sprintf("the problem has %d bytes, the limit is %d", len(problem), maxProblem),
			Fix: "say it in fewer words, and give what belongs to it to a tool",
		}
	}
	_, err := m.cfg.Engine.Begin(ctx, id, func(s *sequent.Session) error {
		s.BeginIn("", m.cfg.Table.Name)
		s.Title = title(problem)
		st := State{Machine: m.cfg.Table.Name, Problem: problem}
		if m.cfg.Model != nil {
			st.Model = m.cfg.Model.Name()
		}
		st.enter(m.cfg.Table.Phases[0].Name, s)
		return st.put(s)
	})
	return err
}

// title is the first line of a problem, for listings.
func title(problem string) string {
	const most = 80
	line, _, _ := strings.Cut(problem, "\n")
	line = strings.Join(strings.Fields(line), " ")
	if r := []rune(line); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return line
}

// An Event is something that happened, stored before it is told. Either the agent's
// Event is set, or Moved.
type Event struct {
	agent.Event
	State string      // where the machine is
	Moved *Transition // it has just come there
	// Result is what the machine came to, with the move to the final state.
	Result string
	Usage  llm.Usage // of the session so far
}

// Run goes on with a session until its machine is in the final state, and yields
// what happens. It ends with an error if the machine fails, after it has moved to
// Failed, and also if ctx is done, or another process has the session: then
// nothing has changed. In either case Run can be called again.
//
// For a session that is done it yields nothing but the move to the final state.
func (m *Machine) Run(ctx context.Context, id sequent.ID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := &run{Config: m.cfg, id: id, yield: yield}
		if err := r.run(ctx); err != nil && !r.left {
			yield(Event{State: r.st.State, Usage: r.st.Usage}, err)
		}
	}
}

// A run is one process's work on a session.
type run struct {
	Config
	id    sequent.ID
	yield func(Event, error) bool
	left  bool
	st    State // as it is stored

	thinking string // the name of the tool that records thoughts
}

func (r *run) tell(e Event) bool {
	e.State, e.Usage = r.st.State, r.st.Usage
	r.left = r.left || !r.yield(e, nil)
	return !r.left
}

// run returns nil also when the caller has left.
func (r *run) run(ctx context.Context) error {
	s, err := r.Engine.Session(ctx, r.id)
	if err != nil {
		return err
	}
	st, ok := StateOf(s)
	if !ok || st.Machine != r.Table.Name {
		return &Error{
			Code: CodeNoPlan, Msg: fmt.Sprintf("the session %s was not begun by %s", r.id, r.Table.Name),
			Fix: "name one that was",
		}
	}
	r.st = st
	if r.st.State == Failed {
		if err := r.resume(ctx); err != nil || r.left {
			return err
		}
	}
	for r.st.State != r.Table.Final {
		p, ok := r.Table.phase(r.st.State)
		if !ok {
			return &Error{Code: CodeNoPlan, Msg: fmt.Sprintf("there is no phase %q", r.st.State), Fix: "update sequent"}
		}
		if err := r.phase(ctx, p); err != nil || r.left {
			return err
		}
	}
	if last := r.st.Results; len(last) > 0 && !r.left {
		r.tell(Event{Moved: &Transition{From: last[len(last)-1].Phase, On: Done, To: r.st.State}, Result: last[len(last)-1].Text})
	}
	return nil
}

// commit changes the stored state, and whatever else of the session, in one step.
func (r *run) commit(ctx context.Context, change func(st *State, s *sequent.Session) error) error {
	var next State
	_, err := r.Engine.Update(ctx, r.id, func(s *sequent.Session) (err error) {
		next, err = r.change(s, change)
		return err
	})
	if err == nil {
		r.st = next
	}
	return err
}

// change puts a changed state into a session, if nobody else has changed it.
func (r *run) change(s *sequent.Session, change func(st *State, s *sequent.Session) error) (State, error) {
	st, ok := StateOf(s)
	if !ok || st.Writes != r.st.Writes {
		return st, taken(r.id)
	}
	if err := change(&st, s); err != nil {
		return st, err
	}
	return st, st.put(s)
}

// resume leaves the state Failed.
func (r *run) resume(ctx context.Context) error {
	failed := r.st.Fault.Phase
	to, ok := r.Table.next(Failed, Resume, failed)
	if !ok {
		return &Error{Code: CodeNoPlan, Msg: fmt.Sprintf("there is no phase %q", failed), Fix: "update sequent"}
	}
	err := r.commit(ctx, func(st *State, s *sequent.Session) error {
		if st.Fault.Code == string(CodeNoAnswer) {
			st.enter(to, s) // from its beginning
		}
		st.State, st.Fault = to, nil
		return nil
	})
	if err == nil {
		r.tell(Event{Moved: &Transition{Failed, Resume, to}})
	}
	return err
}

// phase works on a phase until it has its result.
func (r *run) phase(ctx context.Context, p Phase) error {
	tools := r.tools(p)
	if _, done := r.st.finished(); done {
		return r.finish(ctx, p)
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	var outcome *agent.Outcome
	for e, err := range agent.Run(ctx, agent.Config{
		Model: r.Model, Tools: tools, Temperature: r.Temperature, Tokens: r.Tokens,
		Messages: append(r.st.prompt(p, len(r.Table.Phases) == 1), r.st.Messages...),
		Steps:    p.Steps, First: r.st.Step + 1, Used: r.st.Usage,
	}) {
		if err == nil {
			err = r.store(ctx, e)
		}
		if err != nil {
			return r.fail(ctx, p, err)
		}
		if e.Done != nil {
			outcome = e.Done
		} else if !r.tell(Event{Event: e}) {
			return nil
		}
	}
	if outcome.Reason == agent.OutOfTokens {
		return r.fail(ctx, p, &Error{
			Code: CodeOutOfTokens, Msg: fmt.Sprintf("%d tokens are used, the budget is %d", r.st.Usage.Total(), r.Tokens),
			Fix: "resume with a larger budget",
		})
	}
	return r.finish(ctx, p)
}

// tools returns the tools of a phase, the one that thinks first.
func (r *run) tools(p Phase) []tool.Tool {
	var pending *State
	t := r.Think(r.id, func(ctx context.Context, s *sequent.Session) error {
		if s.Version == 0 {
			return &sequent.Error{
				Code: sequent.CodeInvalidThought, Field: "clearSession",
				Msg: "this session cannot be cleared while it is worked on", Fix: "revise what is wrong instead",
			}
		}
		call, _ := agent.CallOf(ctx)
		next, err := r.change(s, func(st *State, s *sequent.Session) error {
			s.SetState(sequent.Active) // until the machine is done
			st.answered(call.ID, fmt.Sprintf("Recorded. The session has %d thoughts.", s.Len))
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
	r.thinking = t.Name
	return slices.Concat([]tool.Tool{t}, p.Tools, r.Tools)
}

// store keeps what has happened.
func (r *run) store(ctx context.Context, e agent.Event) error {
	switch {
	case e.Answer != nil:
		return r.commit(ctx, func(st *State, _ *sequent.Session) error {
			m := e.Answer.Message
			m.Reasoning = ""
			st.Messages = append(slices.Clip(st.Messages), m)
			st.Step, st.Steps = e.Step, st.Steps+1
			st.Usage, st.Model = st.Usage.Plus(e.Answer.Usage), r.Model.Name()
			return nil
		})
	case e.Calling != nil && !e.Calling.Repeatable && e.Calling.Call.Name != r.thinking:
		return r.commit(ctx, func(st *State, _ *sequent.Session) error {
			st.Begun = append(slices.Clip(st.Begun), e.Calling.Call.ID)
			return nil
		})
	case e.Called != nil:
		return r.commit(ctx, func(st *State, _ *sequent.Session) error {
			st.answered(e.Called.Call.ID, e.Called.Text)
			return nil
		})
	}
	return nil
}

// settle answers the calls of which nobody knows what they did, since the process
// ended that made them.
func (r *run) settle(ctx context.Context) error {
	answered := make(map[string]bool)
	for _, m := range r.st.Messages {
		answered[m.CallID] = true
	}
	var open []string
	for _, id := range r.st.Begun {
		if !answered[id] {
			open = append(open, id)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return r.commit(ctx, func(st *State, _ *sequent.Session) error {
		for _, id := range open {
			st.answered(id, "The program ended during this call. It is not known whether it did anything: find out before you call it again.")
		}
		return nil
	})
}

// fail moves the machine to Failed, unless the error is none of the plan's, and
// returns the error.
func (r *run) fail(ctx context.Context, p Phase, err error) error {
	if passing(ctx, err) {
		return err
	}
	stored := r.commit(context.WithoutCancel(ctx), func(st *State, _ *sequent.Session) error {
		st.State, st.Fault = Failed, fault(p.Name, err)
		return nil
	})
	if stored != nil {
		return errors.Join(err, stored)
	}
	r.tell(Event{Moved: &Transition{p.Name, Fail, Failed}})
	return err
}

// finish stores the result of a phase and moves on.
func (r *run) finish(ctx context.Context, p Phase) error {
	s, err := r.Engine.Session(ctx, r.id)
	if err != nil {
		return err
	}
	text, done := r.st.finished()
	if text = clean(text); text == "" || !done {
		text = r.gathered(s)
	}
	if text == "" {
		return r.fail(ctx, p, &Error{
			Code: CodeNoAnswer, Msg: "the model said nothing in the phase " + p.Name, Fix: "resume to try the phase again",
		})
	}
	to, _ := r.Table.next(p.Name, Done, "") // every phase has one
	err = r.commit(ctx, func(st *State, s *sequent.Session) error {
		st.Results = append(slices.Clip(st.Results), Result{p.Name, text})
		final := to == r.Table.Final
		if !final || s.Len == 0 {
			if err := record(s, p.Name, text, r.Engine.Limits().Text); err != nil {
				return err
			}
		}
		if final {
			s.Conclude(text)
			s.SetState(sequent.Completed)
		}
		st.enter(to, s)
		return nil
	})
	if err != nil || to == r.Table.Final {
		return err
	}
	r.tell(Event{Moved: &Transition{p.Name, Done, to}, Result: text})
	return nil
}

// Table returns the machine's table.
func (m *Machine) Table() Table { return m.cfg.Table }

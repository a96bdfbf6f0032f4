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
	"fmt"
	"iter"

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
	Think func(id sequent.ID, beside func(context.Context, *sequent.Change) error) tool.Tool
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

// Table returns the machine's table.
func (m *Machine) Table() Table { return m.cfg.Table }

// MaxProblem is how many bytes a problem may have. It is in every question of a
// phase, and with the session wherever that is listed.
const MaxProblem = 256 << 10

// Begin begins a session for a problem, under an ID that the caller has chosen
// and that is not taken.
func (m *Machine) Begin(ctx context.Context, id sequent.ID, problem string) error {
	problem = clean(problem)
	if problem == "" {
		return &Error{Code: CodeNoProblem, Msg: "there is no problem to work on", Fix: "say what it is"}
	}
	if len(problem) > MaxProblem {
		return &Error{
			Code: CodeNoProblem, Msg: fmt.Sprintf("the problem has more than %d bytes, the limit", MaxProblem),
			Fix: "say it in fewer words, and give what belongs to it to a tool",
		}
	}
	_, err := m.cfg.Engine.Begin(ctx, id, func(c *sequent.Change) error {
		c.BeginIn("", m.cfg.Table.Name)
		c.SetTitle(problem)
		st := State{Machine: m.cfg.Table.Name, Problem: problem}
		if m.cfg.Model != nil {
			st.Model = m.cfg.Model.Name()
		}
		st.enter(m.cfg.Table.Phases[0].Name, c.Session())
		return st.put(c)
	})
	return err
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

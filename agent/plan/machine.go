// Package plan runs an agent in phases, each with a task, tools and a maximum of
// steps. It stores its state in the session that records the agent's thoughts.
//
// Every answer of the model and every result of a tool is stored before the machine
// continues. After a crash, [Machine.Run] resumes in another process: it does not
// request a stored answer again, does not record a thought twice, and does not
// repeat a tool call that may have had effects.
package plan

import (
	"context"
	"iter"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

// A Config configures a [Machine].
type Config struct {
	Engine *sequent.Engine // required; stores the sessions
	Model  llm.Model       // required for Begin and Run
	Table  Table           // the phases; the zero Table means Planning
	// Think returns the tool that records the model's thoughts in a session. In the
	// change that records a thought the tool must call onRecord, after the thought is
	// appended. Required with a Model.
	Think func(id sequent.ID, onRecord func(context.Context, *sequent.Change) error) tool.Tool
	Tools []tool.Tool // tools for every phase, in addition to the phase's own
	// TokenBudget limits the total usage of all phases, in tokens. 0 means no limit.
	// A plan that exceeds it fails and can be resumed with a larger budget.
	TokenBudget int
}

// A Machine runs plans. It is safe for concurrent use. Only one Run of a plan can
// make progress; a concurrent one fails with CodeTaken.
type Machine struct{ cfg Config }

// New returns a machine. It panics if the table is invalid or a required field is
// missing.
func New(cfg Config) *Machine {
	if cfg.Table.Name == "" && cfg.Table.Phases == nil {
		cfg.Table = Planning()
	}
	cfg.Table.check()
	if cfg.Engine == nil || cfg.Model != nil && cfg.Think == nil {
		panic("plan: Config needs an Engine, and Think if there is a Model")
	}
	return &Machine{cfg}
}

// Table returns the machine's table.
func (m *Machine) Table() Table { return m.cfg.Table }

// MaxProblem is the maximum size of a problem in bytes. The problem is part of every
// request to the model and of the session's header.
const MaxProblem = 256 << 10

// Begin creates a session for a problem. The caller chooses its ID, which must not
// exist yet.
func (m *Machine) Begin(ctx context.Context, id sequent.ID, problem string) error {
	problem = clean(problem)
	if problem == "" {
		return sequent.Errorf(CodeNoProblem, "", "describe the problem", "the problem is empty")
	}
	if len(problem) > MaxProblem {
		return sequent.Errorf(CodeNoProblem, "", "shorten the problem, and provide details with a tool",
			"the problem has %d bytes, more than the limit of %d", len(problem), MaxProblem)
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

// An Event is an event of a machine. It is stored before it is yielded. Either the
// embedded Event or Moved is set.
type Event struct {
	agent.Event
	State  string      // the machine's state
	Moved  *Transition // the transition to State
	Result string      // result of the phase, with Moved
}

// Run runs a session's machine until the final state and yields its events. If a
// phase fails, the machine moves to Failed and Run ends with the error. Run also
// ends with an error if ctx is done, the store fails, or another process runs the
// plan; then the state does not change. In all cases Run can be called again.
//
// If the steps of a phase ran out, the machine goes on with what there is, and after the
// last phase it moves to Exhausted: Run ends with an error of CodeExhausted, and the session
// is not completed.
//
// For a session that is in its final state or in Exhausted, Run yields only the transition
// to that state, and the error.
func (m *Machine) Run(ctx context.Context, id sequent.ID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := &run{Config: m.cfg, id: id, yield: yield}
		if err := r.run(ctx); err != nil && !r.stopped {
			yield(Event{State: r.st.State}, err)
		}
	}
}

package plan

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/tool"
)

// A Phase is a state in which the model works.
type Phase struct {
	Name  string
	Steps int         // how often the model is asked, at most
	Task  string      // what it is told to do
	Tools []tool.Tool // what it may call in this phase, beside thinking
}

// Failed is the state of every machine after something that did not pass by
// itself. It is left by going on.
const Failed = "error"

// What makes a machine move.
const (
	Done   = "done"   // the phase has its result
	Fail   = "fail"   // something went wrong
	Resume = "resume" // somebody wants to go on
)

// A Transition is a line of a machine's table.
type Transition struct{ From, On, To string }

// A Table says which phases a machine has, in which order.
type Table struct {
	Name   string // of the machine: it goes on only with sessions of its own
	Phases []Phase
	Final  string // the last state
}

// Planning is the table of plans: what there is, what has to be found out, what
// to do.
func Planning() Table {
	return Table{Name: "plan", Final: "plan_complete", Phases: []Phase{
		{Name: "analyze_code", Steps: 1, Task: "Say what there is: what the problem is about, which parts and constraints it has, what is " +
			"known and what has to be found out. There is only this one step."},
		{Name: "research", Steps: 15, Task: "Find out what the analysis leaves open. Use the tools where there are any, weigh what you find, " +
			"and say what stays uncertain. Answer with the findings."},
		{Name: "design", Steps: 20, Task: "Work out what to do. Compare alternatives, in branches of thought where that helps, decide, and " +
			"look for what is wrong with the decision. Answer with the plan: the steps in order, what each changes, how it is checked, and what could go wrong."},
	}}
}

// Thinking is the table of a single phase: the problem is thought through.
func Thinking(steps int) Table {
	return Table{Name: "think", Final: "complete", Phases: []Phase{
		{Name: "think", Steps: steps, Task: "Think the problem through, then answer it."},
	}}
}

// Transitions returns the whole table.
func (t Table) Transitions() []Transition {
	var all []Transition
	for i, p := range t.Phases {
		next := t.Final
		if i+1 < len(t.Phases) {
			next = t.Phases[i+1].Name
		}
		all = append(all, Transition{p.Name, Done, next}, Transition{p.Name, Fail, Failed}, Transition{Failed, Resume, p.Name})
	}
	return all
}

// next returns where a machine goes. What it goes back to after a failure is the
// phase that failed.
func (t Table) next(from, on, failed string) (string, bool) {
	for _, tr := range t.Transitions() {
		if tr.From == from && tr.On == on && (on != Resume || tr.To == failed) {
			return tr.To, true
		}
	}
	return "", false
}

func (t Table) phase(name string) (Phase, bool) {
	for _, p := range t.Phases {
		if p.Name == name {
			return p, true
		}
	}
	return Phase{}, false
}

// Mermaid returns the table as a state diagram. If state is not empty, it is
// pointed out as the one in which the machine is.
func (t Table) Mermaid(state string) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	fmt.Fprintf(&b, "    [*] --> %s\n", t.Phases[0].Name)
	for _, p := range t.Phases {
		steps := "steps"
		if p.Steps == 1 {
			steps = "step"
		}
		fmt.Fprintf(&b, "    %s: %s, at most %d %s\n", p.Name, p.Name, p.Steps, steps)
	}
	for _, tr := range t.Transitions() {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", tr.From, tr.To, tr.On)
	}
	fmt.Fprintf(&b, "    %s --> [*]\n", t.Final)
	if state != "" {
		fmt.Fprintf(&b, "    classDef current font-weight:bold,stroke-width:3px\n    class %s current\n", state)
	}
	return b.String()
}

// check panics if the table makes no machine.
func (t Table) check() {
	seen := map[string]bool{Failed: true, t.Final: true, "": true}
	if t.Name == "" || t.Final == "" || t.Final == Failed || len(t.Phases) == 0 {
		panic("plan: a table needs a name, phases and a final state")
	}
	for _, p := range t.Phases {
		if seen[p.Name] || p.Steps < 1 {
			panic(fmt.Sprintf("plan: the phase %q has a name that is taken, or no steps", p.Name))
		}
		seen[p.Name] = true
	}
}

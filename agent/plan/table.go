package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/tool"
)

// A Phase is a state in which the model works on a task.
type Phase struct {
	Name  string
	Steps int         // maximum answers of the model
	Task  string      // instruction to the model
	Tools []tool.Tool // tools of this phase, in addition to the one that records thoughts
}

// Failed is the state of a machine after an error that retries did not resolve. The
// event Resume leaves it.
const Failed = "error"

// Exhausted is the state in which a plan ends, instead of the final one, if the steps of a
// phase ran out: the model still called a tool in the last one.
const Exhausted = "exhausted"

// The events of a machine.
const (
	Done   = "done"   // the phase has its result, or its steps ran out
	RanOut = "ranOut" // the last phase is done, and the steps of a phase ran out
	Fail   = "fail"   // an error occurred
	Resume = "resume" // Run was called again
)

// A Transition is a transition of a machine from one state to another on an event.
type Transition struct{ From, On, To string }

// A Table defines the phases of a machine, in order.
type Table struct {
	Name   string // name of the machine; it runs only sessions that it created
	Phases []Phase
	Final  string // name of the final state
}

// Planning returns the table of sequent plan: analysis, research and design.
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

// Thinking returns the table of sequent think, which has a single phase.
func Thinking(steps int) Table {
	return Table{Name: "think", Final: "complete", Phases: []Phase{
		{Name: "think", Steps: steps, Task: "Think the problem through, then answer it."},
	}}
}

// after returns the state that follows a phase.
func (t Table) after(phase string) string {
	i := slices.IndexFunc(t.Phases, func(p Phase) bool { return p.Name == phase })
	if i+1 < len(t.Phases) {
		return t.Phases[i+1].Name
	}
	return t.Final
}

func (t Table) phase(name string) (Phase, bool) {
	for _, p := range t.Phases {
		if p.Name == name {
			return p, true
		}
	}
	return Phase{}, false
}

// Mermaid returns the table as a Mermaid state diagram.
func (t Table) Mermaid() string {
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
	for _, p := range t.Phases {
		fmt.Fprintf(&b, "    %[1]s --> %[2]s: done\n    %[1]s --> %[3]s: fail\n    %[3]s --> %[1]s: resume\n",
			p.Name, t.after(p.Name), Failed)
	}
	fmt.Fprintf(&b, "    %s --> %s: %s\n", t.Phases[len(t.Phases)-1].Name, Exhausted, RanOut)
	fmt.Fprintf(&b, "    %s --> [*]\n    %s --> [*]\n", t.Final, Exhausted)
	return b.String()
}

// check panics if the table is invalid.
func (t Table) check() {
	seen := map[string]bool{Failed: true, Exhausted: true, t.Final: true, "": true}
	if t.Name == "" || t.Final == "" || t.Final == Failed || len(t.Phases) == 0 {
		panic("plan: Table needs a name, phases and a final state")
	}
	for _, p := range t.Phases {
		if seen[p.Name] || p.Steps < 1 {
			panic(fmt.Sprintf("plan: phase %q has an empty or duplicate name, or no steps", p.Name))
		}
		seen[p.Name] = true
	}
}

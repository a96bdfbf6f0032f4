package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/llm"
)

// label is the session label that holds the machine's state.
const label = "plan"

// A Result is the result of a phase.
type Result struct {
	Phase string `json:"phase"`
	Text  string `json:"text"`
}

// A Fault is the reason why a machine is in the state [Failed].
type Fault struct {
	Phase   string `json:"phase"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// A State is the complete state of a machine. It is stored in a label of the
// session.
type State struct {
	Machine string   `json:"machine"` // name of the table
	Problem string   `json:"problem"`
	State   string   `json:"state"`           // a phase, Failed, Exhausted, or the final state
	Model   string   `json:"model,omitempty"` // name of the model
	Steps   int      `json:"steps,omitzero"`  // answers in all phases
	Results []Result `json:"results,omitempty"`
	Fault   *Fault   `json:"fault,omitempty"`
	RanOut  []string `json:"ranOut,omitempty"` // phases whose steps ran out

	// The current phase:
	Number int `json:"number,omitzero"` // number of its first thought
	Since  int `json:"since,omitzero"`  // length of the log at its beginning
	agent.Progress

	Writes int `json:"writes"` // number of writes; detects concurrent processes
}

// StateOf returns the state of a session's machine, which its header has. It returns false if the
// session has none.
func StateOf(h sequent.Header) (State, bool) {
	var st State
	if raw := h.Labels[label]; raw == "" || json.Unmarshal([]byte(raw), &st) != nil {
		return State{}, false
	}
	return st, true
}

// put stores the state in a change.
func (st *State) put(c *sequent.Change) error {
	st.Writes++
	raw, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	c.SetLabel(label, string(raw))
	return nil
}

// enter moves the machine to the beginning of a state.
func (st *State) enter(state string, s *sequent.Session) {
	st.State, st.Progress = state, agent.Progress{Usage: st.Usage}
	st.Number, st.Since = s.NextNumber(""), s.Len()
}

// system is the system message of every phase.
const system = "You work on a problem in steps. Think with the tool sequentialthinking, one thought a call: doubt " +
	"earlier thoughts and revise them, and try another way in a branch where there is one. When you have what is asked " +
	"for, answer in plain text, without a call. That answer is all that is kept of what you say, beside your thoughts."

// prompt returns the first messages of a phase. Alone means that it is the only
// phase.
func (st *State) prompt(p Phase, alone bool) []llm.Message {
	var b strings.Builder
	b.WriteString("The problem:\n\n" + st.Problem + "\n")
	for _, r := range st.Results {
		fmt.Fprintf(&b, "\nThe result of the phase %s:\n\n%s\n", r.Phase, r.Text)
	}
	b.WriteString("\n")
	if !alone {
		fmt.Fprintf(&b, "This is the phase %s. ", p.Name)
	}
	fmt.Fprintf(&b, "%s You may answer up to %d times, each time with as many calls as you need. Number your thoughts from %d on.", p.Task, p.Steps, st.Number)
	return []llm.Message{{Role: llm.System, Text: system}, {Role: llm.User, Text: b.String()}}
}

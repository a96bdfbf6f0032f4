package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/llm"
)

// label is where a session keeps the state of its machine.
const label = "plan"

// A Result is what a phase came to.
type Result struct {
	Phase string `json:"phase"`
	Text  string `json:"text"`
}

// A Fault is why a machine is in the state [Failed].
type Fault struct {
	Phase   string `json:"phase"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// A State is where a machine is: all that it needs to go on. It is stored with
// the session.
type State struct {
	Machine string    `json:"machine"` // the name of the table
	Problem string    `json:"problem"`
	State   string    `json:"state"`           // a phase, Failed, or the final state
	Model   string    `json:"model,omitempty"` // who is asked, or was last
	Step    int       `json:"step,omitzero"`   // answers of the model in this phase
	Steps   int       `json:"steps,omitzero"`  // answers in all phases
	Results []Result  `json:"results,omitempty"`
	Usage   llm.Usage `json:"usage"`
	Fault   *Fault    `json:"fault,omitempty"`

	// Of the phase under way:
	Number   int           `json:"number,omitzero"`    // of its first thought
	Since    int           `json:"since,omitzero"`     // the log's length at its beginning
	Messages []llm.Message `json:"messages,omitempty"` // what has been said
	Begun    []string      `json:"begun,omitempty"`    // calls that were begun and may have done something

	Writes int `json:"writes"` // counts them: who finds another number is not alone
}

// StateOf returns the state of the machine that a session belongs to, if it
// belongs to one.
func StateOf(s *sequent.Session) (State, bool) {
	var st State
	raw := s.Label(label)
	if raw == "" || json.Unmarshal([]byte(raw), &st) != nil {
		return State{}, false
	}
	return st, true
}

// put stores the state in a session that is being changed.
func (st *State) put(c *sequent.Change) error {
	st.Writes++
	raw, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	c.SetLabel(label, string(raw))
	return nil
}

// answered adds the result of a call, or replaces the one that it has.
func (st *State) answered(id, text string) {
	m := llm.Message{Role: llm.Result, CallID: id, Text: text}
	for i := len(st.Messages) - 1; i >= 0 && st.Messages[i].Role == llm.Result; i-- {
		if st.Messages[i].CallID == id {
			st.Messages = slices.Clone(st.Messages)
			st.Messages[i] = m
			return
		}
	}
	st.Messages = append(slices.Clip(st.Messages), m)
}

// finished returns the text of the phase's last answer, if that is all there is
// to do in the phase.
func (st *State) finished() (text string, ok bool) {
	if len(st.Messages) == 0 {
		return "", false
	}
	last := st.Messages[len(st.Messages)-1]
	return last.Text, last.Role == llm.Assistant && len(last.Calls) == 0
}

// enter puts the machine into a state.
func (st *State) enter(state string, s *sequent.Session) {
	st.State, st.Step, st.Messages, st.Begun = state, 0, nil, nil
	st.Number, st.Since = s.NextNumber(""), s.Len()
}

// system is what the model is told in every phase.
const system = "You work on a problem in steps. Think with the tool sequentialthinking, one thought a call: doubt " +
	"earlier thoughts and revise them, and try another way in a branch where there is one. When you have what is asked " +
	"for, answer in plain text, without a call. That answer is all that is kept of what you say, beside your thoughts."

// prompt is what a phase begins with.
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

package panel

import (
	"encoding/json"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/llm"
)

// label is the session label that holds the panel's state.
const label = "panel"

// The values of View.State.
const (
	Working = ""       // not ended
	Ended   = "ended"  // with an answer
	Cut     = "cut"    // a budget or the time ended it, and its thoughts count
	Failed  = "failed" // without a thought
)

// A View is the work of a perspective.
type View struct {
	Name               string    `json:"name"`
	Instructions       string    `json:"instructions,omitempty"`
	State              string    `json:"state,omitempty"`
	Why                string    `json:"why,omitempty"`  // it was cut or failed
	Steps              int       `json:"steps,omitzero"` // answers of the model
	Usage              llm.Usage `json:"usage,omitzero"`
	agent.Conversation           // empty once it has ended
}

// A State is the complete state of a panel. It is stored in a label of the session.
type State struct {
	Problem   string     `json:"problem"`
	Model     string     `json:"model"`
	Runner    string     `json:"runner,omitempty"` // the latest process; others stop
	Views     []View     `json:"views"`
	Usage     llm.Usage  `json:"usage,omitzero"` // of all calls
	Calls     int        `json:"calls,omitzero"`
	Synthesis *Synthesis `json:"synthesis,omitempty"`
}

// A Synthesis joins the perspectives.
type Synthesis struct {
	Answer   string   `json:"answer"`
	Points   []Point  `json:"points"`
	Dropped  []string `json:"dropped,omitempty"`  // points without a citation that exists
	Silent   []string `json:"silent,omitempty"`   // perspectives that nothing cites
	Failures []View   `json:"failures,omitempty"` // perspectives that failed or were cut, without their messages
}

// A Point is a statement of a synthesis, with references to the thoughts that it is drawn
// from, such as critical#3.
type Point struct {
	Text string   `json:"text"`
	Refs []string `json:"refs"`
}

// StateOf returns the state of a session's panel. It returns false for a session without a panel.
func StateOf(s *sequent.Session) (State, bool) {
	var st State
	raw := s.Label(label)
	return st, raw != "" && json.Unmarshal([]byte(raw), &st) == nil
}

func (st *State) put(c *sequent.Change) error {
	raw, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("panel: %w", err)
	}
	c.SetLabel(label, string(raw))
	return nil
}

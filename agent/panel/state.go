package panel

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sequent-dev/sequent"
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
	Name         string        `json:"name"`
	Instructions string        `json:"instructions,omitempty"`
	State        string        `json:"state,omitempty"`
	Why          string        `json:"why,omitempty"`  // it was cut or failed
	Steps        int           `json:"steps,omitzero"` // answers of the model
	Usage        llm.Usage     `json:"usage,omitzero"`
	Messages     []llm.Message `json:"messages,omitempty"` // after the prompt; empty once it has ended
	Begun        []string      `json:"begun,omitempty"`    // ids of calls that may have had effects
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

// StateOf returns the state of a session's panel. It returns false if there is none.
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

// answered adds or replaces the result of a call.
func (v *View) answered(m llm.Message) {
	i := slices.IndexFunc(v.Messages, func(old llm.Message) bool { return old.Role == llm.Result && old.CallID == m.CallID })
	// IDs are unique in an answer only, so an older one may be equal.
	last := 0
	for at, old := range v.Messages {
		if old.Role == llm.Assistant {
			last = at
		}
	}
	if i > last {
		v.Messages[i] = m
		return
	}
	v.Messages = append(v.Messages, m)
}

// interrupted returns the calls of the last answer that began and have no result.
func (v *View) interrupted() (open []string) {
	for _, id := range v.Begun {
		if !slices.ContainsFunc(v.Messages, func(m llm.Message) bool { return m.Role == llm.Result && m.CallID == id }) {
			open = append(open, id)
		}
	}
	return open
}

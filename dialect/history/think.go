package history

import (
	"fmt"
	"math"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// An Input is one call. The zero value of an optional field means absent.
type Input struct {
	Thought           string     `json:"thought"`
	NextThoughtNeeded bool       `json:"nextThoughtNeeded"`
	ThoughtNumber     int        `json:"thoughtNumber"` // from 1
	TotalThoughts     int        `json:"totalThoughts"` // from 1; may change with every call
	SessionID         sequent.ID `json:"sessionId,omitzero"`
	IsRevision        bool       `json:"isRevision,omitzero"`
	RevisesThought    int        `json:"revisesThought,omitzero"` // implies IsRevision
	BranchFromThought int        `json:"branchFromThought,omitzero"`
	BranchID          string     `json:"branchId,omitzero"` // opens the branch, with or without an origin
	NeedsMoreThoughts bool       `json:"needsMoreThoughts,omitzero"`
	ClearSession      bool       `json:"clearSession,omitzero"` // delete the session and begin a new one
}

// An Output is the reply to a call.
type Output struct {
	SessionID            sequent.ID `json:"sessionId"`
	ThoughtNumber        int        `json:"thoughtNumber"`
	TotalThoughts        int        `json:"totalThoughts"`
	NextThoughtNeeded    bool       `json:"nextThoughtNeeded"`
	ThoughtHistory       []Entry    `json:"thoughtHistory"` // oldest first
	Branches             []string   `json:"branches"`       // in order of first use
	ThoughtHistoryLength int        `json:"thoughtHistoryLength"`
	Summary              string     `json:"summary,omitzero"` // with the last thought
}

// An Entry is a thought in the history of a session.
type Entry struct {
	ThoughtNumber int    `json:"thoughtNumber"`
	Thought       string `json:"thought"`
	IsRevision    bool   `json:"isRevision,omitzero"`
}

// args are the decoded arguments of an Input.
type args struct {
	Thought  string `json:"thought"`
	Next     bool   `json:"nextThoughtNeeded"`
	Number   int    `json:"thoughtNumber"`
	Total    int    `json:"totalThoughts"`
	Session  string `json:"sessionId,omitzero"`
	Revision bool   `json:"isRevision,omitzero"`
	Revises  int    `json:"revisesThought,omitzero"`
	From     int    `json:"branchFromThought,omitzero"`
	Branch   string `json:"branchId,omitzero"`
	More     bool   `json:"needsMoreThoughts,omitzero"`
	Clear    bool   `json:"clearSession,omitzero"`
}

func (in args) input() Input {
	return Input{
		Thought: in.Thought, NextThoughtNeeded: in.Next,
		ThoughtNumber: in.Number, TotalThoughts: in.Total, SessionID: sequent.ID(in.Session),
		IsRevision: in.Revision, RevisesThought: in.Revises,
		BranchFromThought: in.From, BranchID: in.Branch,
		NeedsMoreThoughts: in.More, ClearSession: in.Clear,
	}
}

// maxNumber is the largest integer up to which every JSON parser is exact.
const maxNumber = min(1<<53-1, math.MaxInt)

// check checks the rules that the schema has for JSON.
func (in Input) check() error {
	for _, n := range []struct {
		field        string
		value, least int
	}{
		{"thoughtNumber", in.ThoughtNumber, 1},
		{"totalThoughts", in.TotalThoughts, 1},
		{"revisesThought", in.RevisesThought, 0},
		{"branchFromThought", in.BranchFromThought, 0},
	} {
		if n.value < n.least || n.value > maxNumber {
			fault := tool.ArgumentError{
				Field: n.field, Value: fmt.Sprint(n.value),
				Want: fmt.Sprintf("a whole number from 1 to %d", maxNumber),
			}
			return &sequent.Error{Code: sequent.CodeInvalidThought, Field: n.field, Msg: fault.Error()}
		}
	}
	return nil
}

func (in Input) draft() sequent.Draft {
	d := sequent.Draft{
		Number: in.ThoughtNumber, Total: in.TotalThoughts, Text: in.Thought,
		Branch: in.BranchID, Revision: in.IsRevision || in.RevisesThought > 0,
		More: in.NextThoughtNeeded, Extend: in.NeedsMoreThoughts,
	}
	if in.RevisesThought > 0 {
		d.Revises = sequent.To(in.RevisesThought)
	}
	if in.BranchFromThought > 0 {
		d.From = sequent.To(in.BranchFromThought)
	}
	return d
}

// output returns the reply to a call that is the last thought of s, with the last window
// thoughts, or all if window is 0.
func (in Input) output(s *sequent.Session, window int) Output {
	out := Output{
		SessionID:     s.ID(),
		ThoughtNumber: in.ThoughtNumber, TotalThoughts: in.TotalThoughts, NextThoughtNeeded: in.NextThoughtNeeded,
		ThoughtHistory: []Entry{}, Branches: s.Branches(), ThoughtHistoryLength: s.Len(),
	}
	first := 0
	if window > 0 {
		first = max(0, s.Len()-window)
	}
	for t := range s.Since(first) {
		out.ThoughtHistory = append(out.ThoughtHistory, Entry{t.Number, t.Text, t.Revision})
	}
	if !in.NextThoughtNeeded {
		out.Summary = fmt.Sprintf("Thinking complete: %s, %s.",
			count(s.Len(), "thought", "thoughts"), count(len(out.Branches), "branch", "branches"))
	}
	return out
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

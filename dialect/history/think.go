package history

import (
	"fmt"
	"math"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/tool"
)

// An Input has the arguments of a call. The zero value of an optional field means absent.
type Input struct {
	Thought           string     `json:"thought"`
	NextThoughtNeeded bool       `json:"nextThoughtNeeded"`
	ThoughtNumber     int        `json:"thoughtNumber"` // from 1
	TotalThoughts     int        `json:"totalThoughts"` // from 1; may change with every call
	SessionID         sequent.ID `json:"sessionId,omitzero"`
	IsRevision        *bool      `json:"isRevision"`              // nil means absent; replies echo it
	RevisesThought    int        `json:"revisesThought,omitzero"` // the thought is superseded, whatever IsRevision says
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
	ThoughtHistory       []Entry    `json:"thoughtHistory"`       // oldest first
	HistoryFrom          int        `json:"historyFrom,omitzero"` // position in the session of the first of them, if a limit left out earlier ones
	Branches             []string   `json:"branches"`             // in order of first use
	ThoughtHistoryLength int        `json:"thoughtHistoryLength"`
	Summary              string     `json:"summary,omitzero"` // with the last thought
}

// An Entry is a thought in the history of a session.
type Entry struct {
	ThoughtNumber int    `json:"thoughtNumber"`
	Thought       string `json:"thought"`
	IsRevision    *bool  `json:"isRevision,omitempty"` // as the call gave it; nil means absent
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

// labelGiven is the prefix of labels of a thought for arguments that a draft has no field
// for, such as isRevision with the value false. Session files show them unchanged.
const labelGiven = "given."

func (in Input) draft() sequent.Draft {
	d := sequent.Draft{
		Number: in.ThoughtNumber, Total: in.TotalThoughts, Text: in.Thought,
		Branch: in.BranchID, Final: !in.NextThoughtNeeded, Extend: in.NeedsMoreThoughts,
	}
	if in.IsRevision != nil {
		d.Revision = *in.IsRevision
		if !d.Revision {
			d.Labels = map[string]string{labelGiven + "isRevision": "false"}
		}
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
		out.ThoughtHistory = append(out.ThoughtHistory, Entry{t.Number, t.Text, isRevision(t)})
	}
	if !in.NextThoughtNeeded {
		out.Summary = fmt.Sprintf("Thinking complete: %s, %s.",
			printable.Count(s.Len(), "thought", "thoughts"), printable.Count(len(out.Branches), "branch", "branches"))
	}
	return out
}

// isRevision returns isRevision as the call gave it.
func isRevision(t sequent.Thought) *bool {
	if t.Revision || t.Labels[labelGiven+"isRevision"] == "false" {
		return new(t.Revision)
	}
	return nil
}

// reply returns the output in JSON. If that has more than limit bytes, and limit is
// positive, it has the newest thoughts that fit, at least one.
func (out Output) reply(limit int) tool.Reply {
	texts := 0
	for _, e := range out.ThoughtHistory {
		texts += len(e.Thought)
	}
	if limit <= 0 || texts <= limit { // otherwise do not even encode it
		if r := tool.JSONReply(out); limit <= 0 || len(r.JSON) <= limit {
			return r
		}
	}
	all := out.ThoughtHistory
	out.ThoughtHistory, out.HistoryFrom = []Entry{}, out.ThoughtHistoryLength
	room := limit - len(tool.JSONReply(out).JSON)
	first := len(all)
	for first > 0 {
		room -= len(tool.JSONReply(all[first-1]).JSON) + len(",")
		if room < 0 && first < len(all) {
			break
		}
		first--
	}
	out.ThoughtHistory, out.HistoryFrom = all[first:], 0
	if first > 0 {
		out.HistoryFrom = out.ThoughtHistoryLength - len(out.ThoughtHistory) + 1
	}
	return tool.JSONReply(out)
}

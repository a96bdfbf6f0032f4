package classic

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// args are the arguments of a call.
type args struct {
	Thought    string  `json:"thought"`
	Next       bool    `json:"nextThoughtNeeded"`
	Number     int     `json:"thoughtNumber"`
	Total      int     `json:"totalThoughts"`
	IsRevision *bool   `json:"isRevision"`
	Revises    *int    `json:"revisesThought"`
	From       *int    `json:"branchFromThought"`
	Branch     *string `json:"branchId"`
	More       *bool   `json:"needsMoreThoughts"`
}

// branches reports whether the thought belongs to a branch. An empty name, or only one of
// the two arguments, does not make a branch.
func (a args) branches() bool { return a.From != nil && a.Branch != nil && *a.Branch != "" }

func (a args) isRevision() bool { return a.IsRevision != nil && *a.IsRevision }

// plain reports whether the thought is no revision, is on no branch and does not ask for
// more thoughts. Such a thought may begin a session.
func (a args) plain() bool {
	return !a.branches() && !a.isRevision() && a.Revises == nil && (a.More == nil || !*a.More)
}

// check checks the length of a branch name that is kept as a label, which the engine does
// not check.
func (a args) check(limits sequent.Limits) error {
	if a.Branch == nil || limits.Name < 0 {
		return nil
	}
	if n := utf8.RuneCountInString(*a.Branch); n > limits.Name {
		return &sequent.Error{
			Code: sequent.CodeLimitExceeded, Field: "branch",
			Msg: fmt.Sprintf("branch has %d characters, the limit is %d", n, limits.Name),
			Fix: "use a shorter one",
		}
	}
	return nil
}

// given is the prefix of labels for arguments that a draft has no field for. The session
// file shows them unchanged.
const given = "given."

// draft returns the draft of the thought. Arguments without meaning in the contract
// become labels.
func (a args) draft() sequent.Draft {
	d := sequent.Draft{
		Number: a.Number, Total: a.Total, Text: a.Thought, More: a.Next,
		Revision: a.isRevision(), Extend: a.More != nil && *a.More,
	}
	label := func(name, value string) {
		if d.Labels == nil {
			d.Labels = make(map[string]string)
		}
		d.Labels[given+name] = value
	}
	refused := a.IsRevision != nil && !*a.IsRevision
	if refused {
		label("isRevision", "false")
	}
	switch {
	case a.Revises == nil:
	case refused: // isRevision is false
		label("revisesThought", strconv.Itoa(*a.Revises))
	default:
		d.Revises = sequent.To(*a.Revises)
	}
	if a.branches() {
		d.Branch, d.From = *a.Branch, sequent.To(*a.From)
	} else {
		if a.From != nil {
			label("branchFromThought", strconv.Itoa(*a.From))
		}
		if a.Branch != nil {
			label("branchId", tool.JSONReply(*a.Branch).Text)
		}
	}
	if a.More != nil && !*a.More {
		label("needsMoreThoughts", "false")
	}
	return d
}

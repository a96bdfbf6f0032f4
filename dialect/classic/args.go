package classic

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// args are the arguments of a call.
type args struct {
	Thought    string  `json:"thought"`
	Next       bool    `json:"nextThoughtNeeded"`
	Number     count   `json:"thoughtNumber"`
	Total      count   `json:"totalThoughts"`
	IsRevision *bool   `json:"isRevision"`
	Revises    *count  `json:"revisesThought"`
	From       *count  `json:"branchFromThought"`
	Branch     *string `json:"branchId"`
	More       *bool   `json:"needsMoreThoughts"`
}

// A count is a number that a string can stand for in every spelling that Number in JavaScript
// makes a whole number of, as in the reference server.
type count int

// UnmarshalText reads a string.
func (n *count) UnmarshalText(text []byte) error {
	spelling := strings.ToLower(strings.TrimSpace(string(text)))
	var value float64
	var err error
	if base := map[string]int{"0x": 16, "0o": 8, "0b": 2}[spelling[:min(2, len(spelling))]]; base > 0 {
		var whole uint64
		whole, err = strconv.ParseUint(spelling[2:], base, 64)
		value = float64(whole)
	} else if value, err = strconv.ParseFloat(spelling, 64); strings.ContainsAny(spelling, "_inx") {
		err = strconv.ErrSyntax // in Go, but not there: 1_0, inf, nan, -0x1p0
	}
	*n = count(value)
	if err == nil && float64(*n) != value {
		err = strconv.ErrRange
	}
	return err
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
		return sequent.Errorf(sequent.CodeLimitExceeded, "branch", "use a shorter one",
			"branch has %d characters, the limit is %d", n, limits.Name)
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
		Number: int(a.Number), Total: int(a.Total), Text: a.Thought, Final: !a.Next,
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
		label("revisesThought", strconv.Itoa(int(*a.Revises)))
	default:
		d.Revises = sequent.To(int(*a.Revises))
	}
	if a.branches() {
		d.Branch, d.From = *a.Branch, sequent.To(int(*a.From))
	} else {
		if a.From != nil {
			label("branchFromThought", strconv.Itoa(int(*a.From)))
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

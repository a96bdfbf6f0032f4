package guided

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// maxNumber is the maximum of number arguments.
const maxNumber = min(1<<53-1, math.MaxInt)

// args are the arguments of a call, and in JSON those of the recommended next call.
type args struct {
	Thought  string  `json:"thought"`
	Number   int     `json:"thoughtNumber"`
	Total    int     `json:"totalThoughts"`
	Next     bool    `json:"nextThoughtNeeded"`
	Revision bool    `json:"isRevision"`
	From     *int    `json:"branchFromThought"`
	Branch   *string `json:"branchId"`
	More     bool    `json:"needsMoreThoughts"`
}

// normalise corrects the numbers, and removes a branch with an empty name.
func (in *args) normalise() {
	in.Number = max(1, in.Number)
	in.Total = max(in.Total, in.Number)
	if in.Branch != nil && *in.Branch == "" {
		in.Branch = nil
	}
}

// plain reports whether the thought refers to no other thought.
func (in args) plain() bool {
	return !in.Revision && !in.More && in.From == nil && in.Branch == nil
}

// apply records the call in a change of its session.
func (in args) apply(c *sequent.Change, limits sequent.Limits) error {
	if field, msg := in.fault(limits); field != "" {
		return &invalid{msg: msg, fixed: in.partial().correct(c.Session(), limits)}
	}
	d := sequent.Draft{
		Number: in.Number, Total: in.Total, Text: in.Thought,
		Revision: in.Revision, More: in.Next || in.More, Extend: in.More,
	}
	if in.From != nil {
		d.Branch, d.From = *in.Branch, sequent.To(*in.From)
	}
	_, err := c.Append(d)
	return err
}

// fault returns the argument and the message of the first broken rule, or "" twice.
func (in args) fault(limits sequent.Limits) (field, msg string) {
	switch {
	case strings.TrimSpace(in.Thought) == "":
		return "thought", "thought is empty; it must say one concrete step"
	case in.Branch != nil && !goodName(*in.Branch, limits):
		return "branchId", fmt.Sprintf("branchId must be a name of at most %d printable characters", limits.Name)
	case in.From == nil && in.Branch != nil:
		return "branchFromThought", "branchId is given without branchFromThought; they go together"
	case in.From != nil && in.Branch == nil:
		return "branchId", "branchFromThought is given without branchId; they go together"
	case in.From != nil && *in.From >= in.Number:
		return "branchFromThought", fmt.Sprintf(
			"branchFromThought is %d and thoughtNumber %d; the branch counts on from there, so its number is higher", *in.From, in.Number)
	default:
		return "", ""
	}
}

// goodName reports whether the engine accepts the name of a branch.
func goodName(name string, limits sequent.Limits) bool {
	if limits.Name > 0 && utf8.RuneCountInString(name) > limits.Name {
		return false
	}
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

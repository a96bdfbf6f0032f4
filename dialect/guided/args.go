package guided

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// maxNumber is the largest number that an argument can be.
const maxNumber = min(1<<53-1, math.MaxInt)

// args are the arguments of a call, and as JSON the arguments of the next.
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

// normalise brings the numbers into order. A branch with an empty name is none.
func (in *args) normalise() {
	in.Number = max(1, in.Number)
	in.Total = max(in.Total, in.Number)
	if in.Branch != nil && *in.Branch == "" {
		in.Branch = nil
	}
}

// plain reports whether the thought makes sense without others before it.
func (in args) plain() bool {
	return !in.Revision && !in.More && in.From == nil && in.Branch == nil
}

// apply is the change that the call makes to its session.
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

// fault says which of the rules for arguments is broken, in the words for a
// model. The field is empty if none is.
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
			"branchFromThought is %d and thoughtNumber %d; a branch leaves at a lower number than its own", *in.From, in.Number)
	default:
		return "", ""
	}
}

// goodName reports whether the engine takes a name for a branch.
func goodName(name string, limits sequent.Limits) bool {
	if limits.Name > 0 && utf8.RuneCountInString(name) > limits.Name {
		return false
	}
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

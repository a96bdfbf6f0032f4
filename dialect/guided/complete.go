package guided

import (
	"fmt"
	"math"
	"strings"

	"github.com/sequent-dev/sequent"
)

// maxNumber is the maximum of number arguments.
const maxNumber = min(1<<53-1, math.MaxInt)

// A call is a complete call. In JSON it is a recommended one, whose thought is absent where
// only the author can write it.
type call struct {
	Thought  string  `json:"thought,omitzero"`
	Number   int     `json:"thoughtNumber"`
	Total    int     `json:"totalThoughts"`
	Next     bool    `json:"nextThoughtNeeded"`
	Revision bool    `json:"isRevision"`
	From     *int    `json:"branchFromThought"`
	Branch   *string `json:"branchId"`
	More     bool    `json:"needsMoreThoughts"`
}

// complete returns the most likely intended call: the arguments, completed to fit the
// session. It would be accepted, unless its thought is empty. Arguments that are right
// are kept, but for numbers below 1 and a total below the number, which are raised.
func (in given) complete(s *sequent.Session, limits sequent.Limits) call {
	out := call{Revision: said(in.Revision), More: said(in.More), From: in.From}
	if in.Thought != nil && strings.TrimSpace(*in.Thought) != "" && !tooLong(*in.Thought, limits) {
		out.Thought = *in.Thought
	}
	if in.Branch != nil && goodName(*in.Branch, limits) {
		out.Branch = in.Branch
	}
	switch {
	case in.Number != nil:
		out.Number = max(1, *in.Number)
	case out.Branch != nil && begun(s, *out.Branch):
		out.Number = s.NextNumber(*out.Branch)
	case out.From != nil: // a branch counts on from its origin
		out.Number = min(*out.From, maxNumber-1) + 1
	case out.Branch != nil:
		out.Number = s.NumberAfter(s.Len())
	default:
		out.Number = s.NextNumber("")
	}
	out.Number = min(out.Number, maxNumber)
	out.pair(s)
	last, _ := s.Last()
	out.Total = last.Total
	if in.Total != nil {
		out.Total = *in.Total
	}
	unplanned := out.Total == 0 // no estimate yet
	out.Total = max(out.Total, out.Number)
	out.Next = out.Number < out.Total || unplanned
	if in.Next != nil {
		out.Next = *in.Next
	}
	return out
}

// pair completes an incomplete branch, and raises the number above its origin: an origin
// is what the author meant, and the branch counts on from it.
func (in *call) pair(s *sequent.Session) {
	if in.From == nil && in.Branch != nil {
		if origin, ok := s.BranchPoint(*in.Branch); ok && origin.Number >= 1 {
			in.From = new(origin.Number)
		} else if in.Number > 1 {
			in.From = new(in.Number - 1)
		}
	}
	if in.From == nil || *in.From >= maxNumber { // no number is above the origin
		in.From, in.Branch = nil, nil
		return
	}
	for n := 1; in.Branch == nil; n++ {
		if name := fmt.Sprintf("branch-%d", n); !begun(s, name) {
			in.Branch = &name
		}
	}
	if *in.From < in.Number {
		return
	}
	in.Number = *in.From + 1
	if begun(s, *in.Branch) {
		in.Number = min(max(in.Number, s.NextNumber(*in.Branch)), maxNumber)
	}
}

func begun(s *sequent.Session, branch string) bool {
	_, ok := s.End(branch)
	return ok
}

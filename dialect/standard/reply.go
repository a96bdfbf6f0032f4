package standard

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// A thinkReply is what sequentialthinking answers, in the contract's order.
type thinkReply struct {
	Session  sequent.ID `json:"sessionId"`
	Number   int        `json:"thoughtNumber"`
	Total    int        `json:"totalThoughts"`
	Next     bool       `json:"nextThoughtNeeded"`
	Branches []string   `json:"branches"`
	Length   int        `json:"thoughtHistoryLength"`
	Branch   string     `json:"branchId,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`
}

// reply answers the step, which is the last thought of s. It looks at nothing
// but s and the call, so that a repeated call is answered as the first was.
func (st *step) reply(s *sequent.Session) tool.Reply {
	t, _ := s.Last()
	return tool.JSONReply(thinkReply{
		Session: s.ID, Number: t.Number, Total: t.Total, Next: t.More,
		Branches: s.Branches(), Length: s.Len, Branch: t.Branch,
		Warnings: st.warnings(s, t),
	})
}

// patience is for how many calls totalThoughts may only grow.
const patience = 10

// warnings are what the caller should know of a step that was accepted.
func (st *step) warnings(s *sequent.Session, t sequent.Thought) []string {
	var w []string
	warn := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	if len(st.unknown) > 0 {
		warn("unknown fields ignored: %s", strings.Join(st.unknown, ", "))
	}
	if t.Text == "" {
		warn("the thought is empty")
	}
	if p, ok := s.At(t.Seq - 1); ok && nearlySame(p.Text, t.Text) {
		warn("nearly the same as the previous thought (%d)", p.Number)
	}
	if st.Total != nil && onlyGrows(s, t.Seq) {
		warn("totalThoughts grew in each of the last %d calls: come to a conclusion, or make an estimate that holds", patience)
	}
	if t.Branch == "" {
		return w
	}
	origin, ok := s.Origin(t.Branch)
	first := !begunBefore(s, t)
	switch {
	case first && st.From == nil && ok:
		warn("branch opened at thought %d, the latest", origin.Number)
	case first && st.From == nil:
		warn("branch opened without an origin")
	case !first && st.From != nil:
		if from, _ := s.Find(t.Branch, *st.From); from.Seq < origin.Seq {
			warn("branchFromThought ignored: the branch left at thought %d", origin.Number)
		}
	}
	return w
}

// begunBefore reports whether t is not the first thought of its branch.
func begunBefore(s *sequent.Session, t sequent.Thought) bool {
	before, ok := s.At(t.After)
	return ok && before.Branch == t.Branch
}

// onlyGrows reports whether the estimate was raised with each of the last
// thoughts up to seq.
func onlyGrows(s *sequent.Session, seq int) bool {
	if seq <= patience {
		return false
	}
	for i := range patience {
		t, _ := s.At(seq - i)
		if p, _ := s.At(seq - i - 1); t.Total <= p.Total {
			return false
		}
	}
	return true
}

// nearlySame reports whether two texts have nine words in ten in common, or all
// if they are short. Case and white space do not count.
func nearlySame(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == "" || len(b)-len(a) > 16+len(b)/4 { // mostly it ends here
		return false
	}
	left, right := strings.Fields(strings.ToLower(a)), strings.Fields(strings.ToLower(b))
	most := max(len(left), len(right))
	count := make(map[string]int, len(left))
	for _, word := range left {
		count[word]++
	}
	shared := 0
	for _, word := range right {
		if count[word] > 0 {
			count[word]--
			shared++
		}
	}
	return most > 0 && shared*10 >= most*9
}

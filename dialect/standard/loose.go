package standard

import (
	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
)

// maxNamed is the maximum number of thoughts or lines that a reply lists of a kind: the
// newest, because what is older is in recall_thinking.
const maxNamed = 20

// resting returns the numbers of the thoughts that may rest on one that t replaces: those
// after it on the line of t that hold.
func resting(s *sequent.Session, t, old sequent.Thought) []int {
	var later []int
	for _, step := range s.Effective(t.Branch) {
		if step.Seq > old.Seq && step.Seq < t.Seq {
			later = append(later, step.Number)
		}
	}
	return newest(later)
}

// undecided returns the lines without a verdict, other than the one on which the session
// ends.
func undecided(s *sequent.Session, final string) []string {
	var names []string
	for _, l := range s.Lines() {
		if l.Verdict == "" && l.Label != final && l.Label != "" {
			names = append(names, l.Label)
		}
	}
	return newest(names)
}

// unchecked returns the thoughts of a line that hold, that came after a thought which was
// revised, and were not looked at again after its revision.
func unchecked(s *sequent.Session, line string) []string {
	steps := s.Effective(line)
	type span struct{ after, before int } // Seqs
	var spans []span
	for _, step := range steps {
		if len(step.Replaced) > 0 {
			spans = append(spans, span{step.Replaced[0], step.Seq})
		}
	}
	if len(spans) == 0 {
		return nil
	}
	on := make(map[int]bool)
	for _, step := range steps {
		on[step.Seq] = len(step.Replaced) == 0
	}
	var names []string
	for _, t := range s.Path(line) {
		for _, sp := range spans {
			if on[t.Seq] && sp.after < t.Seq && t.Seq < sp.before {
				names = append(names, brief.Name(t))
				break
			}
		}
	}
	return newest(names)
}

// newest returns the last elements of a list, at most maxNamed.
func newest[T any](list []T) []T { return list[max(0, len(list)-maxNamed):] }

package brief

import (
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// Compare tells in at most the given number of bytes, if that is enough for its first
// line, where two lines of a session part, what each has of its own that holds, and how
// each ends. Both lines exist; the label of the main line is empty. Left is the number
// of thoughts of their own that it does not show whole. It fails only if ctx is done.
func Compare(ctx context.Context, s *sequent.Session, a, b string, bytes int) (text string, left int, err error) {
	w := newWriter(ctx, s, bytes)
	pathA, pathB := s.Path(a), s.Path(b)
	common := 0
	for common < min(len(pathA), len(pathB)) && pathA[common].Seq == pathB[common].Seq {
		common++
	}
	head := fmt.Sprintf("%s: %s and %s", s.ID(), Label(s, a), Label(s, b))
	if common == 0 {
		head += " have no thought in common"
	} else {
		head += " part at " + Name(pathA[common-1])
	}
	w.put(item{section: sectionHead, head: head, pieces: []piece{{weight: weightEnd + 1}}})
	own := w.planSide(1, a, pathA[common:])
	own += w.planSide(2, b, pathB[common:])
	if err := w.choose(bytes); err != nil {
		return "", 0, err
	}
	return w.text(), w.left(own), nil
}

// planSide adds what a line has of its own, and returns the number of its thoughts.
func (w *writer) planSide(section int, label string, path []sequent.Thought) (own int) {
	line := w.lines[0]
	for _, l := range w.lines {
		if l.Label == label {
			line = l
		}
	}
	on := make(map[int]bool)
	for _, t := range path {
		on[t.Seq] = true
	}
	var holding []sequent.Thought
	var replaced []string
	for _, t := range path {
		if st := w.standings[t.Seq-1]; st.State == sequent.Superseded && on[st.By] {
			replaced = append(replaced, Name(t)+" → "+Name(w.log[st.By-1]))
		} else {
			holding = append(holding, t)
		}
	}
	head := w.line(line) + ": " + printable.Count(len(holding), "thought", "thoughts") + " of its own"
	if len(replaced) > 0 {
		head += "; withdrawn: " + strings.Join(replaced, ", ")
	}
	w.put(item{section: section, head: head, pieces: []piece{{weight: weightEnd}}})
	for i, t := range holding {
		weight, rest := weightThought-float64(len(holding)-i)/2, weightThought-20
		if i == len(holding)-1 {
			weight, rest = weightLine, weightThought
		}
		w.add(item{section: section, head: "  " + Name(t) + w.mark(t), seq: t.Seq}, t.Text, weight, rest, 2)
	}
	return len(holding)
}

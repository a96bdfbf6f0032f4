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
	both, one, other := w.Part(a, b)
	head := fmt.Sprintf("%s: %s and %s", s.ID(), Label(a), Label(b))
	if len(both) == 0 {
		head += " have no thought in common"
	} else {
		head += " part at " + Name(both[len(both)-1].Thought)
	}
	w.put(item{section: sectionHead, head: head, pieces: []piece{{weight: weightEnd + 1}}})
	w.planSide(1, a, one)
	w.planSide(2, b, other)
	if err := w.choose(bytes); err != nil {
		return "", 0, err
	}
	return w.text(), w.left(len(one) + len(other)), nil
}

// planSide adds what a line has of its own.
func (w *writer) planSide(section int, label string, own []sequent.Step) {
	head := Line(w.Session, w.Lines[label]) + ": " + printable.Count(len(own), "thought", "thoughts") + " of its own"
	var replaced []string
	for _, step := range own {
		for i, seq := range step.Replaced {
			by := append(step.Replaced[i+1:len(step.Replaced):len(step.Replaced)], step.Seq)[0]
			replaced = append(replaced, Name(w.log[seq-1])+" → "+Name(w.log[by-1]))
		}
	}
	if len(replaced) > 0 {
		head += "; withdrawn: " + strings.Join(replaced, ", ")
	}
	w.put(item{section: section, head: head, pieces: []piece{{weight: weightEnd}}})
	for i, step := range own {
		weight, rest := weightThought-float64(len(own)-i)/2, weightThought-20
		if i == len(own)-1 {
			weight, rest = weightLine, weightThought
		}
		w.add(item{section: section, head: "  " + Name(step.Thought) + w.mark(step.Thought), seq: step.Seq}, step.Text, weight, rest, 2)
	}
}

package brief

import (
	"slices"

	"github.com/sequent-dev/sequent"
)

// planLines says where each line ends, newest first, without the one on which the
// session ended.
func (w *writer) planLines() {
	if len(w.lines) == 1 {
		return
	}
	final := w.log[len(w.log)-1].Branch
	const most = 40
	for i, l := range slices.Backward(w.lines) {
		if l.Label == final || l.First == 0 {
			continue
		}
		if i < len(w.lines)-most {
			break
		}
		end := w.log[l.Last-1]
		head := w.line(l) + ", ends " + Name(end)
		if end.Supersedes > 0 {
			head += " (replaces " + Name(w.log[end.Supersedes-1]) + ")"
		}
		if !w.holds(end.Seq) {
			head += ", replaced by " + Name(w.log[w.standings[end.Seq-1].By-1])
		}
		if !w.holds(end.Seq) || w.shown[end.Seq] {
			w.put(item{section: sectionLines, head: head, pieces: []piece{{weight: weightLine}}})
			continue
		}
		rest := weightThought - 10
		if !l.GivenUp() {
			rest = weightRevision
		}
		w.add(item{section: sectionLines, head: head + ":", seq: end.Seq}, end.Text, weightLine, rest, 2)
	}
}

// line describes a line without its end.
func (w *writer) line(l sequent.Line) string {
	text := Label(w.s, l.Label)
	if l.Origin > 0 {
		text += " from " + Name(w.log[l.Origin-1])
	}
	switch {
	case l.By > 0:
		text += " (" + string(l.Verdict) + " by " + Name(w.log[l.By-1]) + ")"
	case l.Verdict != "":
		text += " (" + string(l.Verdict) + ")"
	}
	return text
}

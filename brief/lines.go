package brief

import (
	"slices"
	"strings"

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
		head := Line(w.Session, l) + ", ends " + Name(end)
		if end.Supersedes > 0 {
			head += " (replaces " + Name(w.log[end.Supersedes-1]) + ")"
		}
		if !w.holds(end.Seq) {
			head += ", replaced by " + Name(w.log[w.Standings[end.Seq-1].By-1])
		}
		if !w.holds(end.Seq) || w.shown[end.Seq] {
			w.put(item{section: sectionLines, head: head, pieces: []piece{{weight: weightLine}}})
			continue
		}
		rest := weightThought - 10
		if !l.GivenUp() {
			rest = weightRevision
		}
		it := w.add(item{section: sectionLines, head: head + ":", seq: end.Seq}, end.Text, weightLine, rest, 2)
		if l.Verdict == sequent.Rejected {
			it.preferReason()
		}
	}
}

// Line names a line, where it leaves, and what was decided about it.
func Line(s *sequent.Session, l sequent.Line) string {
	text := Label(l.Label)
	if origin, ok := s.At(l.Origin); ok {
		text += " from " + Name(origin)
	}
	switch by, ok := s.At(l.By); {
	case ok:
		text += " (" + string(l.Verdict) + " by " + Name(by) + ")"
	case l.Verdict != "":
		text += " (" + string(l.Verdict) + ")"
	}
	return text
}

// preferReason gives the reason against a rejected line more weight than what the line was. Authors
// write it behind a "But", or last.
func (it *item) preferReason() {
	at := slices.IndexFunc(it.pieces, func(p piece) bool { return turns(p.text) })
	if at < 1 {
		it.joinLast()
		at = len(it.pieces) - 1
	}
	if reason := &it.pieces[at]; at > 0 && reason.weight > weightUnshown {
		it.pieces[0].weight, reason.weight = weightRejected, weightLine
	}
}

// joinLast joins the last sentence, if it says too little alone, with the one before it.
func (it *item) joinLast() {
	n := len(it.pieces)
	if n < 3 || len(it.pieces[n-1].text) >= leastSaid || isCode(it.pieces[n-2].text) {
		return
	}
	if last := it.pieces[n-1]; last.weight > weightUnshown && !isCode(last.text) {
		it.pieces[n-2].text += " " + last.text
		it.pieces = it.pieces[:n-1]
	}
}

// turns reports whether a sentence speaks against those before it.
func turns(sentence string) bool {
	word, _, _ := strings.Cut(sentence, " ")
	return slices.Contains([]string{"against", "but", "however", "yet"}, strings.ToLower(strings.TrimRight(word, ",:")))
}

package standard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
)

// An item is a thought and its text on the page.
type item struct {
	keep   int           // importance compared with neighbouring items
	least  int           // bytes that the text has at least
	render func() string // the text; most items of a large session are not shown
	text   *string       // what render has returned
}

func (it *item) String() string {
	if it.text == nil {
		it.text = new(it.render())
	}
	return *it.text
}

// The importance of an item.
const (
	ordinary = iota
	summary  // the thought completed the session, so it summarises the previous ones
	latest   // the newest thought, which can revise a thought far above
)

// A view is what a page shows of a session.
type view struct {
	s         *sequent.Session // as it was at the first page
	name      string
	whole     bool                    // all lines
	rejected  map[string]sequent.Line // the lines that were rejected, by label
	log       []sequent.Thought       // of the line that is shown, or all
	shown     map[int]bool            // their Seqs
	standings []sequent.Standing      // of all thoughts, as they are now
	now       *sequent.Session        // as it is now
	by        map[int]int             // the thought that replaces one in this view, by Seq
	depths    map[int]int             // of the thoughts in an outline
}

// newView returns a view of one line, or of all of them.
func newView(s, now *sequent.Session, name, line string, whole bool) *view {
	v := &view{
		s: s, now: now, name: name, whole: whole, standings: now.Standings(),
		rejected: make(map[string]sequent.Line), shown: make(map[int]bool), by: make(map[int]int),
	}
	if whole {
		v.log = slices.Collect(s.All())
	} else {
		v.log = s.Path(line)
	}
	for _, t := range v.log {
		v.shown[t.Seq] = true
	}
	// On one line its own revisions count, whatever was decided about it since.
	for i := len(v.log) - 1; i >= 0; i-- {
		t := v.log[i]
		if st := v.standings[t.Seq-1]; whole && st.State == sequent.Superseded && v.shown[st.By] {
			v.by[t.Seq] = st.By
		}
		if old := t.Supersedes; !whole && v.shown[old] && v.by[old] == 0 {
			v.by[old] = cmp.Or(v.by[t.Seq], t.Seq)
		}
	}
	for _, l := range s.Lines() {
		if l.Verdict == sequent.Rejected && l.Label != "" {
			v.rejected[l.Label] = l
		}
	}
	if name == viewOutline {
		v.depths = make(map[int]int)
		v.log = v.log[:0]
		for _, e := range s.Outline() {
			if v.shown[e.Seq] {
				v.log = append(v.log, e.Thought)
				v.depths[e.Seq] = e.Depth
			}
		}
	}
	return v
}

// items returns the thoughts with a status, or all if it is empty.
func (v *view) items(status sequent.StandingState) []item {
	var items []item
	last, at := 0, 0
	folds := v.name == viewEffective && v.whole && status == ""
	for _, t := range v.log {
		if status != "" && v.standings[t.Seq-1].State != status {
			continue
		}
		l, rejected := v.rejected[t.Branch]
		rejected = rejected && folds && v.standings[t.Seq-1].State == sequent.Left
		if rejected && t.Seq != l.First { // the line is one row
			continue
		}
		if t.Seq > last {
			last, at = t.Seq, len(items)
		}
		it := item{render: func() string { return v.shownAs(t) }}
		switch {
		case rejected:
			it.render = func() string { return v.folded(l) }
		case v.name == viewOutline:
			it.render = func() string { return v.outlined(t) }
		case v.name == viewEffective && status == "" && v.by[t.Seq] > 0:
			it.render = func() string { return v.pointer(t) }
		default:
			it.least = len(strings.TrimSpace(t.Text))
		}
		if !t.More && v.by[t.Seq] == 0 {
			it.keep = summary
		}
		items = append(items, it)
	}
	if len(items) > 0 {
		items[at].keep = latest
	}
	return items
}

// folded returns a line that was rejected, on one row.
func (v *view) folded(l sequent.Line) string {
	end, _ := v.s.At(l.Last)
	return lineText(v.now, l) + ", ends " + brief.Name(end) + ": " + brief.Lead(end.Text, 160)
}

// pointer keeps the place of a thought that was replaced.
func (v *view) pointer(t sequent.Thought) string {
	by, _ := v.s.At(v.by[t.Seq])
	return brief.Name(t) + " → " + brief.Name(by)
}

// shownAs returns a thought in full. Its lines after the first are indented, so that no
// text looks like another thought.
func (v *view) shownAs(t sequent.Thought) string {
	text := t.Text
	if t.Note != "" {
		text += "\nnote: " + t.Note
	}
	return strings.TrimRight(brief.Name(t)+v.mark(t)+" "+indent(text), " ")
}

// outlined returns a thought on one line, cut at the end of a
// sentence where that is possible.
func (v *view) outlined(t sequent.Thought) string {
	const most = 80 // bytes
	line := brief.Name(t) + v.mark(t) + " " + brief.Lead(t.Text, most)
	return strings.Repeat(" ", min(v.depths[t.Seq], 8)) + strings.TrimRight(line, " ")
}

// mark says what a thought does to another and what was done to it.
func (v *view) mark(t sequent.Thought) string {
	var marks []string
	old, replaces := v.s.At(t.Supersedes)
	n, revises := t.Revises.Number()
	switch {
	case replaces:
		marks = append(marks, "replaces "+brief.Name(old))
	case revises:
		marks = append(marks, "revises #"+number(n))
	case t.Revision:
		marks = append(marks, "revision")
	}
	by, replaced := v.s.At(v.by[t.Seq])
	switch st := v.standings[t.Seq-1]; {
	case replaced:
		marks = append(marks, "replaced by "+brief.Name(by))
	case st.State == sequent.Superseded: // by a thought that this view does not show
		by, _ := v.now.At(st.By)
		marks = append(marks, "replaced by "+brief.Name(by)+" since")
	case st.State == sequent.Disputed, st.State == sequent.Left:
		marks = append(marks, string(st.State))
	}
	if !t.More {
		marks = append(marks, "final")
	}
	if len(marks) == 0 {
		return ""
	}
	return " (" + strings.Join(marks, ", ") + ")"
}

package draw

import (
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
	"github.com/sequent-dev/sequent/internal/printable"
)

// Limits for folding, unless Options.Full is set.
const (
	small = 40 // thoughts of a session in which only long texts are folded
	aLot  = 12 // rows of a thought in a small session
	some  = 5  // rows of a thought on the main line of a large session
	few   = 2  // rows of a thought on its branches
	head  = 5  // thoughts at the beginning of the main line of a large session
	tail  = 20 // thoughts at its end
	many  = 6  // branches of a session that is large
)

// A painter draws one session.
type painter struct {
	*findings.Reading
	o       Options
	drawing Drawing

	lanes   map[string]int // branch → its number in the order of first use, 0 for the main line
	leaves  map[int]string // Seq → the last branch that begins there
	numbers map[int]int    // author's number → number of thoughts with it
	numberW int            // columns of "12/20"
	deepest int            // the last lane with room for text
	large   bool           // fold
	open    []string       // the line at hand, after those that it left, by depth
}

func newPainter(s *sequent.Session, o Options) *painter {
	p := &painter{
		Reading: findings.Read(s), o: o, drawing: Drawing{Rows: make(map[int]int, s.Len())},
		lanes: make(map[string]int), leaves: make(map[int]string), numbers: make(map[int]int), open: []string{""},
	}
	for i, l := range s.Lines() {
		p.lanes[l.Label] = i
		p.leaves[l.Origin] = l.Label
	}
	for t := range s.All() {
		p.numbers[t.Number]++
		p.numberW = max(p.numberW, len(NumberOf(t)))
	}
	p.large = !o.Full && (s.Len() > small || len(p.Lines)-1 > many)
	// At least half of the width is for the text.
	p.deepest = max(1, (o.width()/2-p.numberW-3)/2)
	return p
}

// NumberOf returns the author's number of a thought, and the total.
func NumberOf(t sequent.Thought) string {
	if t.Total <= 0 {
		return fmt.Sprint(t.Number)
	}
	return fmt.Sprintf("%d/%d", t.Number, t.Total)
}

func (p *painter) row(line Line) {
	p.drawing.Lines = append(p.drawing.Lines, line)
}

// fold draws a note about a folded part after lead, with the command that opens it beside or below it.
func (p *painter) fold(lead Line, note, reference string, flags ...string) {
	p.drawing.Folded = true
	note = "⋯ " + note
	if p.o.Command != nil {
		command := printable.Line(p.o.Command(string(p.ID())+reference, flags...))
		if room := p.o.width() - lead.width() - len(": "); Width(note+command) <= room {
			note += ": " + command
		} else {
			note += ":\n  " + command
		}
	}
	p.text(note, Fold, lead)
}

// tree draws the outline: each thought in the lane of its line, each branch after the thought where it leaves.
func (p *painter) tree() {
	drawn := make(map[string]int) // by line
	for entries := p.Outline(); len(entries) > 0; {
		e, n := entries[0], p.foldable(entries, drawn[entries[0].Branch])
		switch {
		case e.Depth > 0 && drawn[e.Branch] == 0:
			p.branch(e.Thought, e.Depth-1)
		case len(p.open) > e.Depth+1 && e.Depth >= p.deepest: // after branches in the same lane
			p.open = p.open[:e.Depth+1]
			p.row(Cut(append(p.at(e.Depth, "├╴"), Span{Text: " back on " + lineName(e.Branch), Role: Tag}), p.o))
		}
		p.open = append(p.open[:e.Depth], e.Branch)
		if n > 1 {
			last := entries[n-1]
			p.fold(append(p.at(e.Depth, "┊"), Span{Text: " ", Role: Fold}),
				fmt.Sprintf("%d more thoughts, %d to %d", n, e.Number, last.Number), "", "--from", fmt.Sprintf("@%d", e.Seq), "--to", fmt.Sprintf("@%d", last.Seq))
		} else {
			n = 1
			p.thought(e.Thought, e.Depth)
		}
		drawn[e.Branch] += n
		entries = entries[n:]
	}
}

// foldable returns how many of the next thoughts are in the middle of their line, where nothing begins. The
// line has some thoughts before them.
func (p *painter) foldable(entries []sequent.OutlineEntry, before int) (n int) {
	from, to := head, p.Lengths[entries[0].Branch]-tail
	if entries[0].Depth > 0 {
		from, to = 1, p.Lengths[entries[0].Branch]-1
	}
	if !p.large || before < from {
		return 0
	}
	for before+n < to && p.leaves[entries[n].Seq] == "" && entries[n].Seq != p.o.Newest {
		n++
	}
	return n
}

// at returns the lanes up to depth, with a glyph in that of the line at hand.
func (p *painter) at(depth int, glyph string) (line Line) {
	for d, outer := range p.open[:min(depth, p.deepest)] {
		pass := "  "
		if p.continues(outer, p.open[d+1]) {
			pass = "│ "
		}
		line = append(line, Span{Text: pass, Role: Lane, Lane: p.lanes[outer]})
	}
	return append(line, Span{Text: glyph, Role: Lane, Lane: p.lanes[p.open[depth]]})
}

// continues reports whether a line, or another branch of it, is below a branch.
func (p *painter) continues(line, branch string) bool {
	origin := p.Lines[branch].Origin
	return origin > 0 && (origin != p.Lines[line].Last || p.leaves[origin] != branch)
}

// branch draws the bend from a line in lane depth to a branch.
func (p *painter) branch(first sequent.Thought, depth int) {
	p.open = p.open[:depth+1]
	parent, lane := p.open[depth], p.lanes[first.Branch]
	line, bend, remark := p.at(depth, ""), "╰─╮", ""
	number, named := first.From.Number()
	switch from, ok := p.At(first.After); {
	case !ok: // it has no origin
		bend = "   "
		if named {
			remark = fmt.Sprintf("%sfrom %d, which is not recorded", dot, number)
		}
	case depth >= p.deepest: // no room for another lane: the branch continues in this one
		bend = "├╴"
		remark = fmt.Sprintf("%sleaves %s at %d", dot, lineName(parent), from.Number)
	case p.continues(parent, first.Branch):
		bend = "├─╮"
	}
	switch v := p.Lines[first.Branch].Verdict; v {
	case "":
	case sequent.Rejected:
		remark += dot + "× " + string(v)
	default:
		remark += dot + string(v)
	}
	p.row(Cut(append(line, Span{Text: bend, Role: Lane, Lane: lane},
		Span{Text: " " + printable.Line(first.Branch), Role: Label, Lane: lane}, Span{Text: remark, Role: Tag}), p.o))
}

func lineName(branch string) string {
	if branch == "" {
		return "the main line"
	}
	return printable.Line(branch)
}

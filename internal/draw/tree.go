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

	lanes    map[string]int               // branch → its number in the order of first use, 0 for the main line
	own      map[string][]sequent.Thought // branch → its thoughts
	leaving  map[int][]string             // Seq → branches that begin there
	numbers  map[int]int                  // author's number → number of thoughts with it
	numberW  int                          // columns of "12/20"
	deepest  int                          // the last lane with room for text
	large    bool                         // fold
	prefix   Line                         // the lanes to the left of the current one
	branches int
}

func newPainter(s *sequent.Session, o Options) *painter {
	p := &painter{
		Reading: findings.Read(s), o: o, drawing: Drawing{Rows: make(map[int]int, s.Len())}, lanes: map[string]int{"": 0},
		own: make(map[string][]sequent.Thought), leaving: make(map[int][]string), numbers: make(map[int]int),
	}
	for t := range s.All() {
		if t.Branch != "" && len(p.own[t.Branch]) == 0 {
			p.lanes[t.Branch] = len(p.lanes)
			p.leaving[t.After] = append(p.leaving[t.After], t.Branch)
		}
		p.own[t.Branch] = append(p.own[t.Branch], t)
		p.numbers[t.Number]++
		p.numberW = max(p.numberW, len(NumberOf(t)))
	}
	p.branches = len(p.lanes) - 1
	p.large = !o.Full && (s.Len() > small || p.branches > many)
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

func (p *painter) tree() {
	p.line("", 0)
	p.branchesAt(0, "", 0, false) // those without a recorded origin
}

// line draws the thoughts of a line in lane depth, each with the branches that begin at it.
func (p *painter) line(branch string, depth int) {
	thoughts := p.own[branch]
	for i := 0; i < len(thoughts); i++ {
		if n := p.skippable(thoughts[i:], i, len(thoughts), depth); n > 1 {
			p.skipped(thoughts[i:i+n], depth)
			i += n - 1
			continue
		}
		more := i+1 < len(thoughts)
		p.thought(thoughts[i], depth, more)
		p.branchesAt(thoughts[i].Seq, branch, depth, more)
	}
}

// skippable returns how many thoughts from rest on are folded.
func (p *painter) skippable(rest []sequent.Thought, at, all, depth int) int {
	if !p.large {
		return 0
	}
	from, to := head, all-tail
	if depth > 0 {
		from, to = 1, all-1
	}
	if at < from {
		return 0
	}
	n := 0
	for n < len(rest) && at+n < to {
		seq := rest[n].Seq
		if len(p.leaving[seq]) > 0 || seq == p.o.Newest {
			break
		}
		n++
	}
	return n
}

func (p *painter) skipped(thoughts []sequent.Thought, depth int) {
	first, last := thoughts[0], thoughts[len(thoughts)-1]
	p.fold(append(p.at(depth, "┊", first.Branch), Span{Text: " ", Role: Fold}),
		fmt.Sprintf("%d more thoughts, %d to %d", len(thoughts), first.Number, last.Number),
		"", "--from", fmt.Sprintf("@%d", first.Seq), "--to", fmt.Sprintf("@%d", last.Seq))
}

// at returns the lanes up to depth, with a glyph in that of branch.
func (p *painter) at(depth int, glyph, branch string) Line {
	depth = min(depth, p.deepest)
	line := append(Line(nil), p.prefix[:min(depth, len(p.prefix))]...)
	return append(line, Span{Text: glyph, Role: Lane, Lane: p.lanes[branch]})
}

// branchesAt draws the branches that begin at a thought of parent. If more is set, parent
// continues below.
func (p *painter) branchesAt(seq int, parent string, depth int, more bool) {
	all := p.leaving[seq]
	for i, branch := range all {
		p.branch(branch, parent, depth, more || i+1 < len(all))
	}
}

// branch draws a branch and the bend from its parent.
func (p *painter) branch(branch, parent string, depth int, more bool) {
	first := p.own[branch][0]
	var line Line
	remark := p.origin(first)
	switch {
	case first.After == 0: // it has no origin
		more = false
		line = append(p.at(depth, " ", ""), Span{Text: "  ", Role: Lane})
	case depth >= p.deepest: // no room for another lane: the branch continues in this one
		from, _ := p.At(first.After)
		line = p.at(depth, "├╴", branch)
		remark = dot + "leaves " + p.lineName(parent) + " at " + fmt.Sprint(from.Number)
	default:
		bend := "╰─╮"
		if more {
			bend = "├─╮"
		}
		line = append(p.at(depth, "", parent), Span{Text: bend, Role: Lane, Lane: p.lanes[branch]})
	}
	line = append(line, Span{Text: " " + printable.Line(branch), Role: Label, Lane: p.lanes[branch]},
		Span{Text: remark + p.verdict(branch), Role: Tag})
	p.row(Cut(line, p.o))
	outer := p.prefix
	if depth < p.deepest {
		pass := "  "
		if more {
			pass = "│ "
		}
		p.prefix = append(p.prefix[:len(p.prefix):len(p.prefix)], Span{Text: pass, Role: Lane, Lane: p.lanes[parent]})
	}
	p.line(branch, depth+1)
	p.prefix = outer
	if depth >= p.deepest && more {
		p.row(Cut(append(p.at(depth, "├╴", parent), Span{Text: " back on " + p.lineName(parent), Role: Tag}), p.o))
	}
}

// origin returns the remark about an origin that is not recorded.
func (p *painter) origin(first sequent.Thought) string {
	if n, named := first.From.Number(); named && first.After == 0 {
		return fmt.Sprintf("%sfrom %d, which is not recorded", dot, n)
	}
	return ""
}

// verdict returns the remark that a line is chosen, rejected or undecided.
func (p *painter) verdict(branch string) string {
	switch v := p.Lines[branch].Verdict; v {
	case "":
		return ""
	case sequent.Rejected:
		return dot + "× " + string(v)
	default:
		return dot + string(v)
	}
}

func (p *painter) lineName(branch string) string {
	if branch == "" {
		return "the main line"
	}
	return printable.Line(branch)
}

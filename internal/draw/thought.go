package draw

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
)

// thought draws one thought in lane depth. If more is set, its line continues. Remarks are before
// the text if they leave some room for it.
func (p *painter) thought(t sequent.Thought, depth int, more bool) {
	p.drawing.Rows[t.Seq] = len(p.drawing.Lines)
	number := NumberOf(t)
	lead := append(p.at(depth, "", ""), p.mark(t),
		Span{Text: " " + strings.Repeat(" ", p.numberW-len(number)) + number + " ", Role: Number, Lane: p.lanes[t.Branch]})
	width := p.o.width() - lead.width()
	add := func(rows []string, role Role) {
		for _, r := range rows {
			p.row(append(lead, Span{Text: r, Role: role}).trimmed())
			lead = p.below(t, depth, more)
		}
	}
	lost := 0
	for i, tag := range p.tag(t) {
		if i > 0 {
			lead[len(lead)-1].Text += p.glyphs.dot
		}
		lead = append(lead, tag)
		lost = lead.width() + Width(p.glyphs.dot) - (p.o.width() - width)
	}
	if lost > width*3/5 {
		p.row(cut(lead, p.o.width(), p.glyphs.ellipsis))
		lead, lost = p.below(t, depth, more), 0
	} else if lost > 0 {
		lead[len(lead)-1].Text += p.glyphs.dot
	}
	rows := p.rows(t.Text, lost, width)
	most := aLot
	switch {
	case p.o.Full || t.Seq == p.o.Newest:
		most = len(rows)
	case p.large && depth > 0:
		most = few
	case p.large:
		most = some
	}
	if hidden := len(rows) - most; hidden > 1 { // a fold that saves one row has no use
		add(rows[:most], p.role(t))
		p.fold(lead, fmt.Sprintf("%d more lines", hidden), fmt.Sprintf("@%d", t.Seq))
	} else {
		add(rows, p.role(t))
	}
	lead = p.below(t, depth, more)
	for _, text := range p.found[t.Seq] {
		add(p.rows("! "+text, 0, width), Tag)
	}
	for _, n := range p.notes[t.Seq] {
		add(p.rows(p.glyphs.note+Noted(n), 0, width), Newest)
	}
	if t.Note != "" && !p.large {
		add(p.rows(t.Note, 0, width), Tag)
	}
}

// role returns the role of the text of a thought.
func (p *painter) role(t sequent.Thought) Role {
	if _, old := p.revised[t.Seq]; old {
		return Superseded
	}
	return Text
}

// rows breaks a text of several lines into rows. It removes blank lines at both ends, and
// keeps one blank line between paragraphs.
func (p *painter) rows(text string, lost, width int) []string {
	var rows []string
	blank := false
	for _, line := range Lines(text, p.o.Charset) {
		if line == "" {
			blank = len(rows) > 0
			continue
		}
		if blank {
			rows = append(rows, "")
			blank = false
		}
		if len(rows) > 0 {
			lost = 0
		}
		rows = append(rows, wrap(line, lost, width)...)
	}
	if rows == nil {
		return []string{""}
	}
	return rows
}

// below returns the lanes to the left of a thought's further rows.
func (p *painter) below(t sequent.Thought, depth int, more bool) Line {
	glyph := " "
	if more || len(p.leaving[t.Seq]) > 0 {
		glyph = p.glyphs.pass
	}
	return append(p.at(depth, glyph, t.Branch), Span{Text: strings.Repeat(" ", p.numberW+2), Role: Number})
}

func (p *painter) mark(t sequent.Thought) Span {
	mark := Span{Text: p.glyphs.node, Role: Lane, Lane: p.lanes[t.Branch]}
	_, old := p.revised[t.Seq]
	switch {
	case old:
		mark.Text = p.glyphs.old
	case t.Final:
		mark.Text, mark.Role = p.glyphs.final, Final
	case t.Revision || revises(t):
		mark.Text = p.glyphs.revision
	}
	if t.Seq == p.o.Newest {
		mark.Role = Newest
	}
	return mark
}

func revises(t sequent.Thought) bool {
	_, named := t.Revises.Number()
	return named
}

// tag returns the remarks before a thought's text.
func (p *painter) tag(t sequent.Thought) Line {
	var tags Line
	if by, old := p.revised[t.Seq]; old {
		tags = append(tags, Span{Text: "replaced by " + p.name(by, t.Branch), Role: Tag})
	}
	if s := p.revises(t); s != "" {
		tags = append(tags, Span{Text: s, Role: Tag})
	}
	if p.disputed[t.Seq] {
		tags = append(tags, Span{Text: "! disputed", Role: Newest})
	}
	if t.Extend {
		tags = append(tags, Span{Text: "wants more", Role: Tag})
	}
	return tags
}

// revises returns the remark about the revised thought, or nothing.
func (p *painter) revises(t sequent.Thought) string {
	n, named := t.Revises.Number()
	switch {
	case named && t.Supersedes > 0 && p.session != nil:
		old, _ := p.session.At(t.Supersedes)
		return "replaces " + p.name(old, t.Branch)
	case named && p.session != nil:
		return fmt.Sprintf("replaces %d, which is not recorded", n)
	case named:
		return fmt.Sprintf("replaces %d", n)
	case t.Revision:
		return "revision"
	}
	return ""
}

// name returns the name of a thought for a remark on a line: its number, and its own line
// if the number is ambiguous.
func (p *painter) name(t sequent.Thought, seen string) string {
	if t.Branch == seen || p.numbers[t.Number] == 1 {
		return fmt.Sprint(t.Number)
	}
	return fmt.Sprintf("%d on %s", t.Number, p.lineName(t.Branch))
}

func (l Line) width() int {
	n := 0
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// trimmed removes the spaces at the end of a line.
func (l Line) trimmed() Line {
	for len(l) > 0 {
		last := &l[len(l)-1]
		if last.Text = strings.TrimRight(last.Text, " "); last.Text != "" {
			break
		}
		l = l[:len(l)-1]
	}
	return l
}

// Noted returns what a person said about a thought, for people.
func Noted(n sequent.Note) string {
	from := n.From
	if from == "" {
		from = "a person"
	}
	said := from
	switch n.Kind {
	case sequent.Wrong:
		said = "wrong (" + from + ")"
	case sequent.Approval:
		said = "approved (" + from + ")"
	}
	if n.Text != "" {
		said += ": " + n.Text
	}
	return said
}

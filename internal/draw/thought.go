package draw

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
)

// thought draws one thought in lane depth. Remarks are before the text if they leave some room for it.
func (p *painter) thought(t sequent.Thought, depth int) {
	p.drawing.Rows[t.Seq] = len(p.drawing.Lines)
	number := NumberOf(t)
	lead := append(p.at(depth, ""), p.mark(t),
		Span{Text: " " + strings.Repeat(" ", p.numberW-len(number)) + number + " ", Role: Number, Lane: p.lanes[t.Branch]})
	width := p.o.width() - lead.width()
	below, lost := p.below(t, depth), 0
	for _, tag := range p.tag(t) {
		tag.Text += dot
		lead = append(lead, tag)
		lost += Width(tag.Text)
	}
	if lost > width*3/5 { // too little room for the text beside its remarks
		lead[len(lead)-1].Text = strings.TrimSuffix(lead[len(lead)-1].Text, dot)
		p.row(Cut(lead, p.o))
		lead, lost = below, 0
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
	hidden := len(rows) - most
	if hidden > 1 { // a fold that saves one row has no use
		rows = rows[:most]
	}
	for _, r := range rows {
		p.row(append(lead[:len(lead):len(lead)], Span{Text: r, Role: p.role(t)}).trimmed())
		lead = below
	}
	if hidden > 1 {
		p.fold(below, fmt.Sprintf("%d more lines", hidden), fmt.Sprintf("@%d", t.Seq))
	}
	for _, text := range p.Found[t.Seq] {
		p.text("! "+text, Tag, below)
	}
	for _, n := range p.Notes[t.Seq] {
		p.text("✎ "+findings.Noted(n), Newest, below)
	}
	if !p.large {
		p.text(t.Note, Tag, below)
	}
}

// role returns the role of the text of a thought.
func (p *painter) role(t sequent.Thought) Role {
	if p.Standing(&t).State == sequent.Superseded {
		return Superseded
	}
	return Text
}

// rows breaks a text of several lines into rows. It removes blank lines at both ends, and
// keeps one blank line between paragraphs.
func (p *painter) rows(text string, lost, width int) (rows []string) {
	for _, line := range Lines(text) {
		if line == "" && (len(rows) == 0 || rows[len(rows)-1] == "") {
			continue
		}
		rows = append(rows, wrap(line, lost, width)...)
		lost = 0
	}
	if n := len(rows); n == 0 {
		return []string{""}
	} else if n > 1 && rows[n-1] == "" {
		rows = rows[:n-1]
	}
	return rows
}

// below returns the lanes to the left of a thought's further rows.
func (p *painter) below(t sequent.Thought, depth int) Line {
	glyph := " "
	if t.Seq != p.Lines[t.Branch].Last || p.leaves[t.Seq] != "" {
		glyph = "│"
	}
	return append(p.at(depth, glyph), Span{Text: strings.Repeat(" ", p.numberW+2), Role: Number})
}

func (p *painter) mark(t sequent.Thought) Span {
	mark := Span{Text: "●", Role: Lane, Lane: p.lanes[t.Branch]}
	_, named := t.Revises.Number()
	switch {
	case p.role(t) == Superseded:
		mark.Text = "○"
	case t.Final:
		mark.Text, mark.Role = "■", Final
	case t.Revision || named:
		mark.Text = "◆"
	}
	if t.Seq == p.o.Newest {
		mark.Role = Newest
	}
	return mark
}

// tag returns the remarks before a thought's text.
func (p *painter) tag(t sequent.Thought) Line {
	var tags Line
	for _, text := range p.Relations(&t, func(other sequent.Thought) string { return p.name(other, t.Branch) }) {
		role := Tag
		if text[0] == '!' {
			role = Newest
		}
		tags = append(tags, Span{Text: text, Role: role})
	}
	if t.Extend {
		tags = append(tags, Span{Text: "wants more", Role: Tag})
	}
	return tags
}

// name returns the name of a thought for a remark on a line: its number, and its own line
// if the number is ambiguous.
func (p *painter) name(t sequent.Thought, seen string) string {
	if t.Branch == seen || p.numbers[t.Number] == 1 {
		return fmt.Sprint(t.Number)
	}
	return fmt.Sprintf("%d on %s", t.Number, lineName(t.Branch))
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

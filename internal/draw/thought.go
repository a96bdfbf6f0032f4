package draw

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
)

// thought draws one thought in lane depth. If more is set, its line continues.
func (p *painter) thought(t sequent.Thought, depth int, more bool) {
	p.drawing.Rows[t.Seq] = len(p.drawing.Lines)
	lead := append(p.at(depth, "", ""), p.mark(t))
	text, role := t.Text, Text
	if _, old := p.revised[t.Seq]; old {
		role = Superseded
	}
	number := NumberOf(t)
	lead = append(lead, Span{Text: " " + strings.Repeat(" ", p.numberW-len(number)) + number + " ", Role: Number, Lane: p.lanes[t.Branch]})
	width := p.o.width() - lead.width()

	tag, lost := p.tag(t), 0
	rest := Line(nil)
	for _, s := range tag {
		if lost+Width(s.Text) > width/2 && lost > 0 { // no room beside the text
			p.row(append(lead, rest...).undotted(p.glyphs.dot))
			lead, rest, lost = p.below(t, depth, more), nil, 0
		}
		s.Text = Truncate(s.Text, width-len(" - "), p.glyphs.ellipsis) + p.glyphs.dot
		rest, lost = append(rest, s), lost+Width(s.Text)
	}
	if lost > width*3/5 {
		p.row(append(lead, rest...).undotted(p.glyphs.dot))
		lead, rest, lost = p.below(t, depth, more), nil, 0
	}
	rows := p.rows(text, lost, width)
	most := len(rows)
	switch {
	case p.o.Full:
	case p.large && depth > 0:
		most = few
	case p.large:
		most = some
	default:
		most = aLot
	}
	hidden := 0
	if len(rows) > most+1 && t.Seq != p.o.Newest { // a fold that saves one row has no use
		rows, hidden = rows[:most], len(rows)-most
	}
	for i, r := range rows {
		if i > 0 {
			lead, rest = p.below(t, depth, more), nil
		}
		p.row(append(append(lead, rest...), Span{Text: r, Role: role}).trimmed())
	}
	if hidden > 0 {
		p.fold(p.below(t, depth, more), fmt.Sprintf("%d more lines", hidden), []string{fmt.Sprintf("@%d", t.Seq)})
	}
	for _, n := range p.notes[t.Seq] {
		for _, r := range p.rows(Noted(n), 0, width) {
			p.row(append(p.below(t, depth, more), Span{Text: r, Role: Newest}).trimmed())
		}
	}
	if t.Note != "" && !p.large {
		for _, r := range p.rows(t.Note, 0, width) {
			p.row(append(p.below(t, depth, more), Span{Text: r, Role: Tag}).trimmed())
		}
	}
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
	case !t.More:
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
		tags = append(tags, Span{Text: p.glyphs.arrow + " revised by " + p.name(by, t.Branch), Role: Tag})
	}
	if s := p.revises(t); s != "" {
		tags = append(tags, Span{Text: s, Role: Tag})
	}
	if p.disputed[t.Seq] {
		tags = append(tags, Span{Text: "disputed", Role: Newest})
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
		return "revises " + p.name(old, t.Branch)
	case named && p.session != nil:
		return fmt.Sprintf("revises %d, which is not recorded", n)
	case named:
		return fmt.Sprintf("revises %d", n)
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

// undotted removes the dot after the last remark if no text follows.
func (l Line) undotted(dot string) Line {
	last := &l[len(l)-1]
	last.Text = strings.TrimSuffix(last.Text, dot)
	return l
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

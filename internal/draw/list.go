package draw

import (
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/reference"
)

// indentation is that of texts below the names of their thoughts.
const indentation = 4

// Header draws the title of a session and the facts about it, and a blank row.
func Header(s *sequent.Session, o Options) []Line {
	p := newPainter(s, o)
	p.header()
	return p.drawing.Lines
}

// Conclusion draws what a session concludes, after a blank row, or nothing.
func Conclusion(s *sequent.Session, o Options) []Line {
	p := newPainter(s, o)
	p.conclusion()
	return p.drawing.Lines
}

// List draws thoughts of a session one below the other, each with its name, remarks and
// whole text.
func List(s *sequent.Session, thoughts []sequent.Thought, o Options) []Line {
	p := newPainter(s, o)
	for i, t := range thoughts {
		if i > 0 {
			p.row(nil)
		}
		facts := NumberOf(t)
		if !o.Now.IsZero() {
			facts += dot + printable.Ago(o.Now.Sub(t.At))
		}
		name := append(p.named(t), Span{Text: facts, Role: Meta})
		for _, tag := range p.tag(t) {
			name = append(name, Span{Text: dot, Role: Meta}, tag)
		}
		p.row(Cut(name, o))
		lead := Line{{Text: strings.Repeat(" ", indentation)}}
		p.text(t.Text, p.role(t), lead)
		p.text(t.Note, Tag, lead)
	}
	return p.drawing.Lines
}

// Outline draws one row for each thought, indented by the depth of its line.
func Outline(s *sequent.Session, entries []sequent.OutlineEntry, o Options) []Line {
	p := newPainter(s, o)
	for _, e := range entries {
		line := append(Line{{Text: strings.Repeat("  ", min(e.Depth, o.width()/6))}}, p.named(e.Thought)...)
		for _, tag := range p.tag(e.Thought) {
			tag.Text += dot
			line = append(line, tag)
		}
		p.row(Cut(append(line, Span{Text: printable.Line(e.Text), Role: p.role(e.Thought)}), o))
	}
	return p.drawing.Lines
}

// named returns the mark and the reference of a thought.
func (p *painter) named(t sequent.Thought) Line {
	return Line{p.mark(t), {Text: " " + printable.Line(reference.To(p.Session, t.Seq).Short()) + "  ", Role: Number, Lane: p.lanes[t.Branch]}}
}

// text draws a text in rows behind a lead; an empty one has none.
func (p *painter) text(text string, role Role, lead Line) {
	if text == "" {
		return
	}
	for _, r := range p.rows(text, 0, p.o.width()-lead.width()) {
		p.row(append(lead[:len(lead):len(lead)], Span{Text: r, Role: role}).trimmed())
	}
}

package draw

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
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
		p.entry(t)
	}
	return p.drawing.Lines
}

// entry draws a thought of a list.
func (p *painter) entry(t sequent.Thought) {
	p.drawing.Rows[t.Seq] = len(p.drawing.Lines)
	reference := p.session.Reference(t.Seq)
	name := Line{p.mark(t), {Text: " " + One(reference.Short(), p.o.Charset), Role: Number, Lane: p.lanes[t.Branch]}}
	facts := []string{NumberOf(t)}
	if reference.Seq == 0 {
		facts = append(facts, fmt.Sprintf("@%d", t.Seq))
	}
	if !p.o.Now.IsZero() {
		facts = append(facts, printable.Ago(p.o.Now.Sub(t.At)))
	}
	name = append(name, Span{Text: "  " + strings.Join(facts, p.glyphs.dot), Role: Meta})
	for _, tag := range p.tag(t) {
		name = append(name, Span{Text: p.glyphs.dot, Role: Meta}, tag)
	}
	p.row(cut(name, p.o.width(), p.glyphs.ellipsis))
	for _, s := range []Span{{Text: t.Text, Role: p.role(t)}, {Text: t.Note, Role: Tag}} {
		if s.Text == "" {
			continue
		}
		for _, r := range p.rows(s.Text, 0, p.o.width()-indentation) {
			p.row(Line{{Text: strings.Repeat(" ", indentation)}, {Text: r, Role: s.Role}}.trimmed())
		}
	}
}

// Outline draws one row for each thought, indented by the depth of its line.
func Outline(s *sequent.Session, entries []sequent.OutlineEntry, o Options) []Line {
	p := newPainter(s, o)
	for _, e := range entries {
		p.drawing.Rows[e.Seq] = len(p.drawing.Lines)
		line := Line{
			{Text: strings.Repeat("  ", min(e.Depth, o.width()/6))},
			p.mark(e.Thought),
			{Text: " " + One(s.Reference(e.Seq).Short(), o.Charset) + "  ", Role: Number, Lane: p.lanes[e.Branch]},
		}
		for _, tag := range p.tag(e.Thought) {
			tag.Text += p.glyphs.dot
			line = append(line, tag)
		}
		p.row(cut(append(line, Span{Text: One(e.Text, o.Charset), Role: p.role(e.Thought)}), o.width(), p.glyphs.ellipsis))
	}
	return p.drawing.Lines
}

package draw

import (
	"cmp"
	"fmt"

	"github.com/sequent-dev/sequent/internal/printable"
)

// header draws the title and the facts about the session.
func (p *painter) header() {
	s := p.session
	title := One(s.Title(), p.o.Charset)
	if title == "" {
		title = "(no thoughts yet)"
	}
	p.row(cut(Line{{Text: title, Role: Title}}, p.o.width(), p.glyphs.ellipsis))
	if _, now := s.Asked(); now.Seq > 0 {
		name := fmt.Sprintf("now: %s#%d ", One(now.Branch, p.o.Charset), now.Number)
		p.row(cut(Line{{Text: name + One(now.Text, p.o.Charset), Role: Tag}}, p.o.width(), p.glyphs.ellipsis))
	}
	facts := []string{One(string(s.ID()), p.o.Charset), cmp.Or(p.o.State, string(s.State()))}
	if s.Dialect() != "" {
		facts = append(facts, One(s.Dialect(), p.o.Charset))
	}
	facts = append(facts, printable.Count(s.Len(), "thought", "thoughts"))
	if p.branches > 0 {
		facts = append(facts, printable.Count(p.branches, "branch", "branches"))
	}
	if !p.o.Now.IsZero() {
		facts = append(facts, printable.Ago(p.o.Now.Sub(s.Updated())))
	}
	p.facts(facts)
	p.facts(Origin(s.Origin(), p.o.Charset))
	if f := s.Fault(); f != nil {
		p.facts([]string{"not what was recorded: " + One(f.String(), p.o.Charset)})
	}
	p.row(nil)
}

// facts draws facts, as many in a row as there is room for.
func (p *painter) facts(facts []string) {
	if len(facts) == 0 {
		return
	}
	var line string
	for _, f := range facts { // a fact is not broken
		if line != "" && Width(line+p.glyphs.dot+f) > p.o.width() {
			p.row(cut(Line{{Text: line, Role: Meta}}, p.o.width(), p.glyphs.ellipsis))
			line = ""
		}
		if line != "" {
			line += p.glyphs.dot
		}
		line += f
	}
	p.row(cut(Line{{Text: line, Role: Meta}}, p.o.width(), p.glyphs.ellipsis))
}

func (p *painter) conclusion() {
	if p.session.Conclusion() == "" {
		return
	}
	p.row(nil)
	p.row(Line{{Text: "Conclusion", Role: Title}})
	for _, r := range p.rows(p.session.Conclusion(), 0, p.o.width()) {
		p.row(Line{{Text: r}})
	}
}

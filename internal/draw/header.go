package draw

import (
	"cmp"
	"fmt"
	"time"
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
	facts = append(facts, Count(s.Len(), "thought", "thoughts"))
	if p.branches > 0 {
		facts = append(facts, Count(p.branches, "branch", "branches"))
	}
	if !p.o.Now.IsZero() {
		facts = append(facts, Ago(p.o.Now.Sub(s.Updated())))
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

// Count returns n with the right form of a noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Ago returns how long ago something was, in words.
func Ago(d time.Duration) string {
	if age := Age(d); age != "now" {
		return age + " ago"
	}
	return "just now"
}

// Age returns a duration in its largest unit: 5m, 3h, 12d.
func Age(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 365*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return fmt.Sprintf("%dy", d/(365*24*time.Hour))
}

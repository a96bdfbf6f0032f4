package draw

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// header draws the title and the facts about the session.
func (p *painter) header() {
	s := p.Session
	title := printable.Line(s.Title())
	if title == "" {
		title = "(no thoughts yet)"
	}
	p.row(Cut(Line{{Text: title, Role: Title}}, p.o))
	if _, now := s.Asked(); now.Seq > 0 {
		name := fmt.Sprintf("now: %s#%d ", printable.Line(now.Branch), now.Number)
		p.row(Cut(Line{{Text: name + printable.Line(now.Text), Role: Tag}}, p.o))
	}
	facts := []string{printable.Line(string(s.ID())), cmp.Or(p.o.State, string(s.State()))}
	if s.Header().Dialect != "" {
		facts = append(facts, printable.Line(s.Header().Dialect))
	}
	facts = append(facts, printable.Count(s.Len(), "thought", "thoughts"))
	if n := len(p.Lines) - 1; n > 0 {
		facts = append(facts, printable.Count(n, "branch", "branches"))
	}
	if !p.o.Now.IsZero() {
		facts = append(facts, printable.Ago(p.o.Now.Sub(s.Updated())))
	}
	p.facts(facts)
	p.facts(origin(s.Origin()))
	if f := s.Fault(); f != nil {
		p.facts([]string{"not what was recorded: " + printable.Line(f.String())})
	}
	p.row(nil)
}

// facts draws facts, as many in a row as there is room for.
func (p *painter) facts(facts []string) {
	p.text(strings.Join(facts, dot), Meta, nil)
}

func (p *painter) conclusion() {
	if p.Conclusion() == "" {
		return
	}
	p.row(nil)
	p.row(Line{{Text: "Conclusion", Role: Title}})
	p.text(p.Conclusion(), Text, nil)
}

// shownCommit is how many characters of a commit are shown.
const shownCommit = 10

// origin returns the facts about where a session comes from.
func origin(c sequent.Origin) (facts []string) {
	add := func(parts ...string) {
		if text := strings.TrimSpace(printable.Line(strings.Join(parts, " "))); text != "" {
			facts = append(facts, text)
		}
	}
	add(c.Client, c.ClientVersion)
	if c.Agent != c.Client && c.Agent != "" {
		add("agent", c.Agent)
	}
	add(c.Model)
	add(c.Project)
	place := c.GitBranch
	if c.Commit != "" {
		place += "@" + c.Commit[:min(shownCommit, len(c.Commit))]
	}
	add(place)
	return facts
}

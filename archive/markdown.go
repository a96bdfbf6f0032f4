package archive

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
	"github.com/sequent-dev/sequent/internal/printable"
)

// Markdown returns a session as a document for people, in the order, words and marks of the viewer's article: title,
// facts, conclusion, and every thought, each branch after the thought at which it leaves.
func Markdown(s *sequent.Session) string {
	d := document{Reading: findings.Read(s)}
	d.printf("# %s\n\n", cmp.Or(escaped(s.Title()), "Session "+code(string(s.ID()))))
	if _, now := s.Asked(); now.Seq > 0 {
		d.printf("Asked at #1. Now %s: %s\n\n", d.place(now, ""), escaped(now.Text))
	}
	thoughts := fmt.Sprint(s.Len())
	if n := len(s.Branches()); n > 0 {
		thoughts += ", on the main line and " + printable.Count(n, "branch", "branches")
	}
	if n := len(d.Revisions); n > 0 {
		thoughts += ", with " + printable.Count(n, "revision", "revisions")
	}
	fault := ""
	if f := s.Fault(); f != nil {
		fault = f.String()
	}
	o := s.Origin()
	for _, fact := range [][2]string{
		{"Session", code(string(s.ID()))}, {"State", escaped(string(s.State()))}, {"Thoughts", thoughts}, {"Not what was recorded", escaped(fault)},
		{"Begun", stamp(s.Created())}, {"Last changed", stamp(s.Updated())}, {"Client", code(strings.TrimSpace(o.Client + " " + o.ClientVersion))},
		{"Agent", code(o.Agent)}, {"Model", code(o.Model)}, {"Project", code(o.Project)}, {"Git branch", code(o.GitBranch)}, {"Commit", code(o.Commit)},
	} {
		if fact[1] != "" {
			d.printf("- %s: %s\n", fact[0], fact[1])
		}
	}
	concluded, _ := s.At(d.Concluded)
	if text := cmp.Or(s.Conclusion(), concluded.Text); strings.TrimSpace(text) != "" {
		d.printf("\n## Conclusion\n\n%s", quoted(text))
	}
	if s.Len() > 0 {
		d.printf("\n## Thoughts\n")
	}
	line := ""
	for _, e := range s.Outline() {
		switch {
		case e.Branch == line:
		case e.Seq == d.Lines[e.Branch].First:
			d.printf("\n### Branch %s\n\n%s\n", code(e.Branch), d.branch(&e.Thought))
		case e.Branch == "":
			d.printf("\n### Back on the main line\n")
		default:
			d.printf("\n### Back on branch %s\n", code(e.Branch))
		}
		line = e.Branch
		d.thought(&e.Thought)
	}
	return d.String()
}

type document struct {
	strings.Builder
	*findings.Reading
}

func (d *document) printf(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

func (d *document) thought(t *sequent.Thought) {
	mark, rel := "●", d.Relations(t, func(other sequent.Thought) string { return d.place(other, t.Branch) })
	_, named := t.Revises.Number()
	switch {
	case d.Standing(t).State == sequent.Superseded:
		mark = "○"
	case t.Seq == d.Concluded:
		mark, rel = "■", append(rel, "conclusion")
	case named || t.Revision:
		mark = "◆"
	}
	number := fmt.Sprintf("#%d", t.Number)
	if t.Total > 0 {
		number += fmt.Sprintf(" of %d", t.Total)
	}
	d.printf("\n#### %s %s\n\n%s", mark, strings.Join(append([]string{number}, rel...), " · "), quoted(t.Text))
	if t.Note != "" {
		d.printf("\n*Note:*\n\n%s", quoted(t.Note))
	}
	for _, n := range d.Notes[t.Seq] {
		text := n.Text
		n.Text = ""
		d.printf("\n*✎ %s at %s.*\n", escaped(findings.Noted(n)), stamp(n.At))
		if text != "" {
			d.printf("\n%s", quoted(text))
		}
	}
}

// branch describes where a branch begins, of which t is the first thought, and what came of it.
func (d *document) branch(t *sequent.Thought) string {
	l := d.Lines[t.Branch]
	text := "Begins by itself."
	if origin, ok := d.At(l.Origin); ok {
		text = "Leaves at " + d.place(origin, t.Branch) + "."
	} else if from, named := t.From.Number(); named {
		text = fmt.Sprintf("Said to leave at #%d, which was not recorded before it.", from)
	}
	by, _ := d.At(l.By)
	switch l.Verdict {
	case sequent.Rejected:
		text += " × Rejected by " + d.place(by, t.Branch) + "."
	case sequent.Chosen:
		text += " Chosen by " + d.place(by, t.Branch) + "."
	case sequent.Undecided:
		text += " Undecided."
	}
	return text
}

// place returns the name of a thought in a text about a line.
func (d *document) place(t sequent.Thought, line string) string {
	name := fmt.Sprintf("#%d", t.Number)
	switch {
	case t.Branch == line:
		return name
	case t.Branch == "":
		return name + " of the main line"
	default:
		return name + " of branch " + code(t.Branch)
	}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

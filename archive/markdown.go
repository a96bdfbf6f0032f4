package archive

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// Markdown returns a session as a document for people, in the order, words and marks of the viewer's article: title,
// facts, conclusion, and every thought, each branch after the thought at which it leaves.
func Markdown(s *sequent.Session) string {
	d := document{s: s, notes: make(map[int][]sequent.Note), state: make(map[string]sequent.Line), standings: s.Standings()}
	for _, l := range s.Lines() {
		d.state[l.Label] = l
	}
	for _, n := range s.Notes() {
		d.notes[n.Seq] = append(d.notes[n.Seq], n)
	}
	revisions, conclusion := 0, s.Conclusion()
	for t := range s.All() {
		if _, _, ok := revises(t); ok {
			revisions++
		}
		if d.standings[t.Seq-1].State == sequent.Concluded {
			conclusion = cmp.Or(conclusion, t.Text)
		}
	}
	d.printf("# %s\n\n", cmp.Or(escaped(s.Title()), "Session "+code(string(s.ID()))))
	if _, now := s.Asked(); now.Seq > 0 {
		first, _ := s.At(1)
		d.printf("Asked at %s. Now %s: %s\n\n", d.place(first, ""), d.place(now, ""), escaped(now.Text))
	}
	d.printf("- Session: %s\n- State: %s\n", code(string(s.ID())), escaped(string(s.State())))
	d.printf("- Thoughts: %d", s.Len())
	if n := len(s.Branches()); n > 0 {
		d.printf(", on the main line and %s", printable.Count(n, "branch", "branches"))
	}
	if revisions > 0 {
		d.printf(", with %s", printable.Count(revisions, "revision", "revisions"))
	}
	if f := s.Fault(); f != nil {
		d.printf("\n- Not what was recorded: %s", f)
	}
	d.printf("\n- Begun: %s\n- Last changed: %s\n", stamp(s.Created()), stamp(s.Updated()))
	d.origin(s.Origin())
	if strings.TrimSpace(conclusion) != "" {
		d.printf("\n## Conclusion\n\n%s", quoted(conclusion))
	}
	if s.Len() > 0 {
		d.printf("\n## Thoughts\n")
	}
	line := ""
	for _, e := range s.Outline() {
		switch {
		case e.Branch != line && e.Seq == d.state[e.Branch].First:
			d.printf("\n### Branch %s\n\n%s%s\n", code(e.Branch), d.branchPoint(&e.Thought), d.verdict(e.Branch))
		case e.Branch != line:
			d.printf("\n### %s\n", back(e.Branch))
		}
		line = e.Branch
		d.thought(&e.Thought)
	}
	return d.b.String()
}

// back says that a line continues after a branch.
func back(line string) string {
	if line == "" {
		return "Back on the main line"
	}
	return "Back on branch " + code(line)
}

type document struct {
	b         strings.Builder
	s         *sequent.Session
	notes     map[int][]sequent.Note  // Seq → what people said
	state     map[string]sequent.Line // label → what came of the line
	standings []sequent.Standing      // by Seq - 1
}

func (d *document) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

func (d *document) thought(t *sequent.Thought) {
	mark, rel, st := "●", "", d.standings[t.Seq-1]
	number, named, revision := revises(*t)
	old, replaces := d.s.At(t.Supersedes)
	switch {
	case replaces:
		mark, rel = "◆", " · replaces "+d.place(old, t.Branch)
	case named:
		mark, rel = "◆", fmt.Sprintf(" · replaces %d, which is not recorded", number)
	case revision:
		mark, rel = "◆", " · revision"
	}
	switch st.State {
	case sequent.Superseded:
		newer, _ := d.s.At(st.By)
		mark, rel = "○", rel+" · replaced by "+d.place(newer, t.Branch)
	case sequent.Disputed:
		rel += " · ! disputed"
	case sequent.Concluded:
		mark, rel = "■", rel+" · conclusion"
	}
	d.printf("\n#### %s %s%s\n\n%s", mark, numbered(*t), rel, quoted(t.Text))
	if t.Note != "" {
		d.printf("\n*Note:*\n\n%s", quoted(t.Note))
	}
	for _, n := range d.notes[t.Seq] {
		d.printf("\n*✎ %s at %s.*\n", remark(n), stamp(n.At))
		if n.Text != "" {
			d.printf("\n%s", quoted(n.Text))
		}
	}
}

// numbered returns the author's number of a thought, and the total.
func numbered(t sequent.Thought) string {
	if t.Total <= 0 {
		return fmt.Sprintf("#%d", t.Number)
	}
	return fmt.Sprintf("#%d of %d", t.Number, t.Total)
}

// origin describes where the session comes from.
func (d *document) origin(o sequent.Origin) {
	for _, fact := range [][2]string{
		{"Client", strings.TrimSpace(o.Client + " " + o.ClientVersion)}, {"Agent", o.Agent}, {"Model", o.Model},
		{"Project", o.Project}, {"Git branch", o.GitBranch}, {"Commit", o.Commit},
	} {
		if fact[1] != "" {
			d.printf("- %s: %s\n", fact[0], code(fact[1]))
		}
	}
}

// branchPoint describes where a branch begins, of which t is the first thought.
func (d *document) branchPoint(t *sequent.Thought) string {
	from, named := t.From.Number()
	origin, ok := d.s.BranchPoint(t.Branch)
	switch {
	case ok:
		return "Leaves at " + d.place(origin, t.Branch) + "."
	case named:
		return fmt.Sprintf("Said to leave at #%d, which was not recorded before it.", from)
	default:
		return "Begins by itself."
	}
}

// verdict describes what came of a branch.
func (d *document) verdict(label string) string {
	l := d.state[label]
	by, _ := d.s.At(l.By)
	switch l.Verdict {
	case sequent.Rejected:
		return " × Rejected by " + d.place(by, label) + "."
	case sequent.Chosen:
		return " Chosen by " + d.place(by, label) + "."
	case sequent.Undecided:
		return " Undecided."
	}
	return ""
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

// remark says what kind of note a person made.
func remark(n sequent.Note) string {
	from := cmp.Or(escaped(n.From), "a person")
	switch n.Kind {
	case sequent.Wrong:
		return "Called wrong by " + from
	case sequent.Approval:
		return "Approved by " + from
	}
	return "Note by " + from
}

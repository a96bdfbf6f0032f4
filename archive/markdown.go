package archive

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// Markdown returns a session as a document for people: title, state, counts, the main
// line, each branch with its origin, and the conclusion. Headings of superseded
// thoughts are struck out, with GitHub's extension of CommonMark.
func Markdown(s *sequent.Session) string {
	d := document{s: s, notes: make(map[int][]sequent.Note), by: make(map[int]sequent.Thought), lines: make(map[string][]sequent.Thought), state: make(map[string]sequent.Line)}
	for _, l := range s.Lines() {
		d.state[l.Label] = l
	}
	for _, n := range s.Notes() {
		d.notes[n.Seq] = append(d.notes[n.Seq], n)
	}
	revisions := 0
	for t := range s.All() {
		d.lines[t.Branch] = append(d.lines[t.Branch], t)
		if t.Supersedes > 0 {
			d.by[t.Supersedes] = t
		}
		if _, _, ok := revises(t); ok {
			revisions++
		}
	}
	labels := s.Branches()

	d.printf("# %s\n\n", cmp.Or(escaped(s.Title()), "Session "+code(string(s.ID()))))
	d.printf("- Session: %s\n- State: %s\n", code(string(s.ID())), escaped(string(s.State())))
	d.printf("- Thoughts: %d", s.Len())
	if n := len(labels); n > 0 {
		d.printf(", on the main line and %s", count(n, "branch", "branches"))
	}
	if revisions > 0 {
		d.printf(", with %s", count(revisions, "revision", "revisions"))
	}
	if f := s.Fault(); f != nil {
		d.printf("\n- Not what was recorded: %s", f)
	}
	d.printf("\n- Begun: %s\n- Last changed: %s\n", stamp(s.Created()), stamp(s.Updated()))
	d.origin(s.Origin())

	if main := d.lines[""]; len(main) > 0 {
		d.printf("\n## Main line\n")
		d.thoughts(main)
	}
	for _, label := range labels {
		d.printf("\n## Branch %s\n\n%s%s\n", code(label), d.branchPoint(label), d.verdict(label))
		d.thoughts(d.lines[label])
	}
	if s.Conclusion() != "" {
		d.printf("\n## Conclusion\n\n%s", quoted(s.Conclusion()))
	}
	return d.b.String()
}

type document struct {
	b     strings.Builder
	s     *sequent.Session
	notes map[int][]sequent.Note       // Seq → what people said
	by    map[int]sequent.Thought      // Seq → its latest revision
	lines map[string][]sequent.Thought // label → thoughts, in order
	state map[string]sequent.Line      // label → what came of the line
}

func (d *document) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

func (d *document) thoughts(list []sequent.Thought) {
	for _, t := range list {
		title := fmt.Sprintf("Thought %d of %d", t.Number, t.Total)
		if number, named, ok := revises(t); ok && named {
			title = fmt.Sprintf("Revision %d of %d, of thought %d", t.Number, t.Total, number)
		} else if ok {
			title = fmt.Sprintf("Revision %d of %d", t.Number, t.Total)
		}
		newer, superseded := d.by[t.Seq]
		if superseded {
			title = "~~" + title + "~~"
		}
		if t.Seq == d.s.Len() && t.Final {
			title += " (final)"
		}
		d.printf("\n### %s\n\n", title)
		if superseded {
			d.printf("*Superseded by %s.*\n\n", d.place(newer, t.Branch))
		}
		d.printf("%s", quoted(t.Text))
		if t.Note != "" {
			d.printf("\n*Note:*\n\n%s", quoted(t.Note))
		}
		for _, n := range d.notes[t.Seq] {
			d.printf("\n*%s at %s.*\n", remark(n), stamp(n.At))
			if n.Text != "" {
				d.printf("\n%s", quoted(n.Text))
			}
		}
	}
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

// branchPoint describes where a branch begins.
func (d *document) branchPoint(label string) string {
	first := d.lines[label][0]
	from, named := first.From.Number()
	t, ok := d.s.BranchPoint(label)
	switch {
	case ok && t.Branch == "":
		return fmt.Sprintf("Leaves the main line at thought %d.", t.Number)
	case ok:
		return fmt.Sprintf("Leaves branch %s at thought %d.", code(t.Branch), t.Number)
	case named:
		return fmt.Sprintf("Said to leave at thought %d, which was not recorded before it.", from)
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
		return " ╳ Rejected by " + d.place(by, label) + "."
	case sequent.Chosen:
		return " Chosen by " + d.place(by, label) + "."
	case sequent.Undecided:
		return " Undecided."
	}
	return ""
}

// place returns the name of a thought in a text about a line.
func (d *document) place(t sequent.Thought, line string) string {
	name := fmt.Sprintf("thought %d", t.Number)
	switch {
	case t.Branch == line:
		return name
	case t.Branch == "":
		return name + " of the main line"
	default:
		return name + " of branch " + code(t.Branch)
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
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

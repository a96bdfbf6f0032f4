package archive

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
)

// The limits of Mermaid's defaults maxEdges (500) and maxTextSize (50,000), with room for
// a few lines that are added by hand.
const (
	maxEdges = 490
	maxText  = 49_000
)

// labelLength is the maximum number of characters of a thought in its node, and
// foldedLabelLength the one in a diagram without some thoughts, whose text is limited.
const (
	labelLength       = 60
	foldedLabelLength = 40
)

// Mermaid returns a session as a Mermaid flowchart: a node for each thought, edges
// along each line and branch, dotted edges from revisions to the thoughts that they
// supersede. The last thought of a completed session has its own colour.
//
// Mermaid refuses diagrams with more than 500 edges or 50,000 characters. Of a session that
// needs more, thoughts are left out: first those far from the end that begin nothing, conclude
// nothing and revise nothing. Edges say how many they pass, and a node says that it is so.
func Mermaid(s *sequent.Session) string {
	r := findings.Read(s)
	order := important(r)
	most := min(len(order), 4*maxEdges)
	if d := draw(r, order[:most], labelLength); most == len(order) && d.fits() {
		return d.String()
	}
	// With more nodes there is no less to draw, so the largest number that fits is found by bisection.
	own := sort.Search(most, func(n int) bool { return !draw(r, order[:n+1], foldedLabelLength).fits() })
	return draw(r, order[:own], foldedLabelLength).String()
}

// important returns the Seqs of the thoughts: those where lines begin, end and leave each other, and conclusions; then
// revisions; then what they replace; then all others. In each of these the newest is first.
func important(r *findings.Reading) (order []int) {
	const structure, revision, replaced = -3, -2, -1
	ranks := make(map[int]int)
	lift := func(rank int, seqs ...int) {
		for _, seq := range seqs {
			ranks[seq] = min(ranks[seq], rank)
		}
	}
	for _, l := range r.Lines {
		lift(structure, l.First, l.Last, l.Origin)
	}
	for t := range r.All() {
		order = append(order, t.Seq)
		if t.Final {
			lift(structure, t.Seq)
		}
		if isRevision(&t) {
			lift(revision, t.Seq)
			lift(replaced, t.Supersedes)
		}
	}
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b int) int { return ranks[a] - ranks[b] })
	return order
}

func isRevision(t *sequent.Thought) bool { return t.Revision || t.Revises != (sequent.Ref{}) }

// A drawing is a flowchart.
type drawing struct {
	strings.Builder
	edges   int
	classes map[string][]string // class → nodes
}

// fits reports whether Mermaid accepts the chart. It counts as JavaScript does: characters
// beyond the basic plane twice.
func (d *drawing) fits() bool {
	n := 0
	for _, r := range d.String() {
		n += max(utf8.RuneLen(r)-2, 1)
	}
	return n <= maxText && d.edges <= maxEdges
}

func (d *drawing) connect(from, to int, arrow, label string) {
	if d.edges++; label != "" {
		label = `|"` + label + `"|`
	}
	fmt.Fprintf(d, "    t%d %s%s t%d\n", from, arrow, label, to)
}

func (d *drawing) class(name string, seq int) {
	d.classes[name] = append(d.classes[name], fmt.Sprintf("t%d", seq))
}

// draw draws some thoughts of a session.
func draw(r *findings.Reading, seqs []int, length int) *drawing {
	d := &drawing{classes: make(map[string][]string)}
	drawn := make([]bool, r.Len()+1) // by Seq
	for _, seq := range seqs {
		drawn[seq] = true
	}
	d.WriteString("flowchart LR\n")
	if left := r.Len() - len(seqs); left > 0 {
		fmt.Fprintf(d, "    folded[\"%d of %d thoughts are folded, because<br/>Mermaid draws at most 500 edges and 50000 characters.<br/>"+
			"Markdown and JSON exports have every thought.\"]\n", left, r.Len())
		d.classes["folded"] = []string{"folded"}
	}
	if r.Len() == 0 {
		d.WriteString("    empty[\"No thoughts yet\"]\n")
	}
	passed := make([]int, r.Len()+1) // Seq → thoughts that are not drawn, up to the next one that is
	before := make([]int, r.Len()+1) // Seq → that next one, or 0
	for t := range r.All() {
		from, n := before[t.After], passed[t.After]
		if !drawn[t.Seq] {
			before[t.Seq], passed[t.Seq] = from, n+1
			continue
		}
		before[t.Seq] = t.Seq
		final := t.Final && t.Seq == r.Len()
		fmt.Fprintf(d, "    t%d[\"%s\"]\n", t.Seq, nodeLabel(r, &t, final, length))
		if origin, ok := r.At(from); ok {
			label := ""
			switch {
			case origin.Branch != t.Branch:
				label = "Branch"
			case n > 0:
				label = fmt.Sprintf("%d more", n)
			case isRevision(&t):
				label = "Revise"
			}
			d.connect(from, t.Seq, "-->", label)
		}
		if drawn[t.Supersedes] {
			d.connect(t.Seq, t.Supersedes, "-.->", "replaces")
			d.class("superseded", t.Supersedes)
		}
		if r.Standing(&t).State == sequent.Disputed {
			d.class("disputed", t.Seq)
		}
		switch {
		case final:
			d.class("final", t.Seq)
		case isRevision(&t):
			d.class("revision", t.Seq)
		case t.Branch != "":
			d.class("branch", t.Seq)
		}
	}
	const box = ",stroke:#333,stroke-width:2px,color:#000"
	for _, c := range [][2]string{
		{"superseded", "opacity:0.5"}, {"revision", "fill:#ff9" + box}, {"branch", "fill:#f9f" + box}, {"final", "fill:#9f9" + box},
		{"folded", "stroke-dasharray:5 5"}, {"disputed", "stroke:#c60,stroke-width:3px"},
	} {
		if nodes := d.classes[c[0]]; len(nodes) > 0 {
			fmt.Fprintf(d, "    classDef %s %s\n    class %s %s\n", c[0], c[1], strings.Join(nodes, ","), c[0])
		}
	}
	return d
}

// nodeLabel returns the label of the node of a thought. The first one of a branch has the
// branch's verdict.
func nodeLabel(r *findings.Reading, t *sequent.Thought, final bool, length int) string {
	var lines []string
	if l := r.Lines[t.Branch]; t.Branch != "" {
		branch := "Branch " + literal(oneLine(t.Branch, labelLength))
		if l.First == t.Seq && l.Verdict != "" {
			branch += ", " + string(l.Verdict)
		}
		lines = append(lines, branch)
	}
	switch number, named := t.Revises.Number(); {
	case named:
		lines = append(lines, "Revision of", fmt.Sprintf("Thought %d", number))
	case t.Revision:
		lines = append(lines, "Revision")
	default:
		lines = append(lines, fmt.Sprintf("Thought %d", t.Number))
	}
	if final {
		lines = append(lines, "(Final)")
	}
	if text := oneLine(t.Text, length); text != "" {
		// After a quotation mark Mermaid does not recognise a list.
		lines = append(lines, "“"+literal(text)+"”")
	}
	return strings.Join(lines, "<br/>")
}

// literal returns text for a quoted label. Mermaid interprets quotes, entities, HTML,
// Markdown and directives in labels, and uses the characters ﬂ, ° and ¶ for entities
// internally. So only letters, digits, spaces and common punctuation of ASCII are
// written as they are.
func literal(text string) string {
	var b strings.Builder
	for _, r := range text {
		ascii := r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,:'-?!", r))
		other := r >= 0x80 && unicode.IsGraphic(r) && !strings.ContainsRune("ﬂ°¶", r)
		if ascii || other {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

package archive

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
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
	chart, _ := MermaidFolded(s)
	return chart
}

// MermaidFolded returns the flowchart of [Mermaid] and the number of thoughts that have
// no node in it.
func MermaidFolded(s *sequent.Session) (chart string, folded int) {
	g := newGraph(s)
	all := len(g.thoughts)
	most := min(all, 4*maxEdges)
	if d := g.draw(most, labelLength); most == all && d.fits() {
		return d.b.String(), 0
	}
	// With more nodes there is no less to draw, so the largest number that fits is found by bisection.
	own := sort.Search(most, func(n int) bool { return !g.draw(n+1, foldedLabelLength).fits() })
	return g.draw(own, foldedLabelLength).b.String(), all - own
}

// A graph is a session as Mermaid draws it.
type graph struct {
	thoughts  []sequent.Thought
	standings []sequent.Standing
	verdicts  map[int]sequent.Verdict // Seq of the first thought of a line → what came of it
	order     []int                   // Seqs in the order in which thoughts are drawn
}

// newGraph ranks thoughts: where lines begin, end and leave each other, and conclusions; then
// revisions; then what they replace; then all others. In each of these the newest is
// first.
func newGraph(s *sequent.Session) *graph {
	g := &graph{
		thoughts: s.Thoughts(), standings: s.Standings(),
		verdicts: make(map[int]sequent.Verdict),
	}
	const structure, revision, replaced, other = -3, -2, -1, 0
	ranks := make([]int, len(g.thoughts)+1)
	lift := func(seq, rank int) { ranks[seq] = min(ranks[seq], rank) }
	for _, l := range s.Lines() {
		g.verdicts[l.First] = l.Verdict
		if l.First > 0 {
			lift(l.First, structure)
			lift(l.Last, structure)
			lift(g.thoughts[l.First-1].After, structure)
		}
	}
	for _, t := range g.thoughts {
		if t.Final {
			lift(t.Seq, structure)
		}
		if _, _, ok := revises(t); ok {
			lift(t.Seq, revision)
		}
		lift(t.Supersedes, replaced)
		g.order = append(g.order, t.Seq)
	}
	slices.Reverse(g.order)
	slices.SortStableFunc(g.order, func(a, b int) int { return ranks[a] - ranks[b] })
	return g
}

// A drawing is a flowchart of a graph.
type drawing struct {
	b       strings.Builder
	drawn   []bool // by Seq
	edges   int
	classes map[string][]string // class → nodes
}

// fits reports whether Mermaid accepts the chart. It counts as JavaScript does: characters
// beyond the basic plane twice.
func (d *drawing) fits() bool {
	n := 0
	for _, r := range d.b.String() {
		n += max(utf8.RuneLen(r)-2, 1)
	}
	return n <= maxText && d.edges <= maxEdges
}

func (d *drawing) connect(from, to int, arrow, label string) {
	if d.edges++; label != "" {
		label = `|"` + label + `"|`
	}
	fmt.Fprintf(&d.b, "    t%d %s%s t%d\n", from, arrow, label, to)
}

// draw draws the first own thoughts of the order.
func (g *graph) draw(own, length int) *drawing {
	d := &drawing{drawn: make([]bool, len(g.thoughts)+1), classes: make(map[string][]string)}
	for _, seq := range g.order[:own] {
		d.drawn[seq] = true
	}
	d.b.WriteString("flowchart LR\n")
	if left := len(g.thoughts) - own; left > 0 {
		fmt.Fprintf(&d.b, "    folded[\"%d of %d thoughts are folded, because<br/>Mermaid draws at most 500 edges and 50000 characters.<br/>Markdown and JSON exports have every thought.\"]\n", left, len(g.thoughts))
		d.classes["folded"] = []string{"folded"}
	}
	passed := make([]int, len(g.thoughts)+1) // Seq → thoughts that are not drawn, up to the next one that is
	before := make([]int, len(g.thoughts)+1) // Seq → that next one, or 0
	for i := range g.thoughts {
		t := &g.thoughts[i]
		if before[t.Seq] = t.Seq; !d.drawn[t.Seq] {
			before[t.Seq], passed[t.Seq] = before[t.After], passed[t.After]+1
		} else {
			g.thought(d, t, before[t.After], passed[t.After], length)
		}
	}
	if len(g.thoughts) == 0 {
		d.b.WriteString("    empty[\"No thoughts yet\"]\n")
	}
	for _, c := range [][2]string{
		{"superseded", "opacity:0.5"},
		{"revision", "fill:#ff9,stroke:#333,stroke-width:2px,color:#000"},
		{"branch", "fill:#f9f,stroke:#333,stroke-width:2px,color:#000"},
		{"final", "fill:#9f9,stroke:#333,stroke-width:2px,color:#000"},
		{"folded", "stroke-dasharray:5 5"},
		{"disputed", "stroke:#c60,stroke-width:3px"},
	} {
		if nodes := d.classes[c[0]]; len(nodes) > 0 {
			fmt.Fprintf(&d.b, "    classDef %s %s\n    class %s %s\n", c[0], c[1], strings.Join(nodes, ","), c[0])
		}
	}
	return d
}

// thought draws a thought that follows the one at a position, after some that are not drawn.
func (g *graph) thought(d *drawing, t *sequent.Thought, before, passed, length int) {
	_, _, revision := revises(*t)
	final := t.Seq == len(g.thoughts) && t.Final
	class := func(name string, seq int) { d.classes[name] = append(d.classes[name], fmt.Sprintf("t%d", seq)) }
	fmt.Fprintf(&d.b, "    t%d[\"%s\"]\n", t.Seq, nodeLabel(*t, g.verdicts[t.Seq], final, length))
	if before > 0 {
		label := ""
		switch {
		case g.thoughts[before-1].Branch != t.Branch:
			label = "Branch"
		case passed > 0:
			label = fmt.Sprintf("%d more", passed)
		case revision:
			label = "Revise"
		}
		d.connect(before, t.Seq, "-->", label)
	}
	if d.drawn[t.Supersedes] {
		d.connect(t.Seq, t.Supersedes, "-.->", "replaces")
		class("superseded", t.Supersedes)
	}
	if g.standings[t.Seq-1].State == sequent.Disputed {
		class("disputed", t.Seq)
	}
	switch {
	case final:
		class("final", t.Seq)
	case revision:
		class("revision", t.Seq)
	case t.Branch != "":
		class("branch", t.Seq)
	}
}

// nodeLabel returns the label of the node of a thought. The first one of a branch has the
// branch's verdict.
func nodeLabel(t sequent.Thought, verdict sequent.Verdict, final bool, length int) string {
	lines := []string{fmt.Sprintf("Thought %d", t.Number)}
	if number, named, ok := revises(t); ok && named {
		lines = []string{"Revision of", fmt.Sprintf("Thought %d", number)}
	} else if ok {
		lines = []string{"Revision"}
	}
	if t.Branch != "" {
		branch := "Branch " + literal(oneLine(t.Branch, labelLength))
		switch verdict {
		case "":
		case sequent.Rejected:
			branch += ", × rejected"
		default:
			branch += ", " + string(verdict)
		}
		lines = append([]string{branch}, lines...)
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

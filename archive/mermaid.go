package archive

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent"
)

// labelLength is the maximum number of characters of a thought in its node, and
// foldedLabelLength the one in a diagram with folded runs, whose text is limited.
const (
	labelLength       = 60
	foldedLabelLength = 40
)

// Mermaid returns a session as a Mermaid flowchart: a node for each thought, edges
// along each line and branch, dotted edges from revisions to the thoughts that they
// supersede. The last thought of a completed session has its own colour.
//
// Mermaid refuses diagrams with more than 500 edges or 50,000 characters. A session that
// needs more has runs of thoughts folded into one node each, and a node that says so:
// first those far from the end that begin nothing, conclude nothing and revise nothing.
func Mermaid(s *sequent.Session) string {
	chart, _ := MermaidFolded(s)
	return chart
}

// MermaidFolded returns the flowchart of [Mermaid] and the number of thoughts that have
// no node of their own in it.
func MermaidFolded(s *sequent.Session) (chart string, folded int) {
	g := newGraph(s)
	p := g.whole()
	if edges, _ := g.edges(p); edges <= maxEdges {
		if chart = g.chart(p, labelLength); drawable(chart) {
			return chart, 0
		}
	}
	p = g.fold()
	return g.chart(p, foldedLabelLength), p.folded
}

// MermaidWhole returns the flowchart of [Mermaid] with a node for each thought, however
// many there are. It is for programs that raise Mermaid's maxEdges and maxTextSize.
func MermaidWhole(s *sequent.Session) string {
	g := newGraph(s)
	return g.chart(g.whole(), labelLength)
}

// chart writes the flowchart of a partition.
func (g *graph) chart(p *partition, length int) string {
	var b strings.Builder
	classes := []struct {
		name, style string
		nodes       []string
	}{
		{name: "superseded", style: "opacity:0.5"},
		{name: "revision", style: "fill:#ff9,stroke:#333,stroke-width:2px,color:#000"},
		{name: "branch", style: "fill:#f9f,stroke:#333,stroke-width:2px,color:#000"},
		{name: "final", style: "fill:#9f9,stroke:#333,stroke-width:2px,color:#000"},
		{name: "run", style: "stroke-dasharray:5 5"},
		{name: "disputed", style: "stroke:#c60,stroke-width:3px"},
	}
	b.WriteString("flowchart LR\n")
	if p.folded > 0 {
		fmt.Fprintf(&b, "    folded[\"%d of %d thoughts are folded into runs, because<br/>Mermaid draws at most 500 edges and 50000 characters.<br/>Markdown and JSON exports have every thought.\"]\n", p.folded, len(g.thoughts))
		classes[4].nodes = append(classes[4].nodes, "folded")
	}
	seen := make(map[edge]bool)
	connect := func(e edge, arrow string) {
		if !seen[e] {
			seen[e] = true
			fmt.Fprintf(&b, "    %s %s %s\n", p.node(e.from), arrow, p.node(e.to))
		}
	}
	for i := range g.thoughts {
		at := p.block[i+1]
		if at == hidden {
			continue
		}
		if after := g.thoughts[i].After; at != i+1 && p.block[after] == at && g.thoughts[i].Supersedes == 0 {
			continue // within a run
		}
		t := g.thoughts[i]
		node, single := p.node(at), p.size[at] == 1
		_, _, revision := revises(t)
		final := t.Seq == len(g.thoughts) && !t.More
		if at == t.Seq {
			label := g.runLabel(p, at, length)
			if single {
				label = nodeLabel(t, final, length)
			} else {
				classes[4].nodes = append(classes[4].nodes, node)
			}
			fmt.Fprintf(&b, "    %s[\"%s\"]\n", node, label)
		}
		if before := p.block[t.After]; t.After > 0 && before != hidden && before != at {
			arrow := "-->"
			switch {
			case g.thoughts[t.After-1].Branch != t.Branch:
				arrow = `-->|"Branch"|`
			case revision && single:
				arrow = `-->|"Revise"|`
			}
			connect(edge{from: before, to: at}, arrow)
		}
		if old := p.block[t.Supersedes]; t.Supersedes > 0 && old != hidden && old != at {
			connect(edge{from: at, to: old, replaces: true}, `-.->|"replaces"|`)
			if p.size[old] == 1 {
				classes[0].nodes = append(classes[0].nodes, p.node(old))
			}
		}
		if single && g.disputed[t.Seq] {
			classes[5].nodes = append(classes[5].nodes, node)
		}
		switch {
		case !single:
		case final:
			classes[3].nodes = append(classes[3].nodes, node)
		case revision:
			classes[1].nodes = append(classes[1].nodes, node)
		case t.Branch != "":
			classes[2].nodes = append(classes[2].nodes, node)
		}
	}
	if len(g.thoughts) == 0 {
		b.WriteString("    empty[\"No thoughts yet\"]\n")
	}
	for _, c := range classes {
		if len(c.nodes) > 0 {
			fmt.Fprintf(&b, "    classDef %s %s\n    class %s %s\n", c.name, c.style, strings.Join(c.nodes, ","), c.name)
		}
	}
	return b.String()
}

// nodeLabel returns the label of the node of a thought.
func nodeLabel(t sequent.Thought, final bool, length int) string {
	lines := []string{fmt.Sprintf("Thought %d", t.Number)}
	if number, named, ok := revises(t); ok && named {
		lines = []string{"Revision of", fmt.Sprintf("Thought %d", number)}
	} else if ok {
		lines = []string{"Revision"}
	}
	if t.Branch != "" {
		lines = append([]string{"Branch " + literal(oneLine(t.Branch, labelLength))}, lines...)
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

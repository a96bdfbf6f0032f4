package archive

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent"
)

// labelLength is the maximum number of characters of a thought in its node.
const labelLength = 60

// Mermaid returns a session as a Mermaid flowchart: a node for each thought, edges
// along each line and branch, dotted edges from revisions to the thoughts that they
// supersede. The last thought of a completed session has its own colour.
func Mermaid(s *sequent.Session) string {
	var b strings.Builder
	classes := []struct {
		name, style string
		nodes       []string
	}{
		{name: "superseded", style: "opacity:0.5"},
		{name: "revision", style: "fill:#ff9,stroke:#333,stroke-width:2px,color:#000"},
		{name: "branch", style: "fill:#f9f,stroke:#333,stroke-width:2px,color:#000"},
		{name: "final", style: "fill:#9f9,stroke:#333,stroke-width:2px,color:#000"},
	}
	b.WriteString("flowchart LR\n")
	for t := range s.All() {
		node := fmt.Sprintf("t%d", t.Seq)
		_, _, revision := revises(t)
		final := t.Seq == s.Len() && !t.More
		fmt.Fprintf(&b, "    %s[\"%s\"]\n", node, nodeLabel(t, final))
		if t.After > 0 {
			arrow := "-->"
			before, _ := s.At(t.After)
			switch {
			case before.Branch != t.Branch:
				arrow = `-->|"Branch"|`
			case revision:
				arrow = `-->|"Revise"|`
			}
			fmt.Fprintf(&b, "    t%d %s %s\n", t.After, arrow, node)
		}
		if t.Supersedes > 0 {
			fmt.Fprintf(&b, "    %s -.->|\"replaces\"| t%d\n", node, t.Supersedes)
			classes[0].nodes = append(classes[0].nodes, fmt.Sprintf("t%d", t.Supersedes))
		}
		switch {
		case final:
			classes[3].nodes = append(classes[3].nodes, node)
		case revision:
			classes[1].nodes = append(classes[1].nodes, node)
		case t.Branch != "":
			classes[2].nodes = append(classes[2].nodes, node)
		}
	}
	if s.Len() == 0 {
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
func nodeLabel(t sequent.Thought, final bool) string {
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
	if text := oneLine(t.Text, labelLength); text != "" {
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

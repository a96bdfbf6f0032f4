package archive_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// checkChart checks that Mermaid accepts a chart: at most 500 edges and 50,000 characters,
// and no edge to a node that is not there.
func checkChart(t *testing.T, chart string) {
	t.Helper()
	nodes := make(map[string]bool)
	edges := 0
	node, edge := regexp.MustCompile(`^    (\w+)\["`), regexp.MustCompile(`^    (\w+) (?:-->|-\.->)(?:\|"[\w ]+"\|)? (\w+)$`)
	for line := range strings.Lines(chart) {
		line = strings.TrimSuffix(line, "\n")
		if m := node.FindStringSubmatch(line); m != nil {
			if nodes[m[1]] {
				t.Errorf("the node %s is there twice", m[1])
			}
			nodes[m[1]] = true
		} else if m := edge.FindStringSubmatch(line); m != nil {
			edges++
			if !nodes[m[1]] || !nodes[m[2]] || m[1] == m[2] {
				t.Errorf("an edge leads nowhere: %s", line)
			}
		} else if !regexp.MustCompile(`^(flowchart LR|    class(Def)? .*)$`).MatchString(line) {
			t.Errorf("what is %q?", line)
		}
	}
	if n := len(utf16.Encode([]rune(chart))); edges > 500 || n > 50_000 {
		t.Errorf("%d edges and %d characters", edges, n)
	}
}

// long returns the drafts of a session with branches and revisions.
func long(thoughts, branchEvery, reviseEvery int, text string) []sequent.Draft {
	var list []sequent.Draft
	for n := 1; len(list) < thoughts; n++ {
		d := sequent.Draft{Number: n, Total: thoughts, Text: fmt.Sprintf("%d %s", n, text), Final: len(list) >= thoughts-1}
		if reviseEvery > 0 && n%reviseEvery == 0 {
			d.Revises = sequent.To(n - 2)
		}
		list = append(list, d)
		for i := range 5 {
			if branchEvery > 0 && n%branchEvery == 0 && len(list) < thoughts-1 {
				list = append(list, sequent.Draft{
					Number: n + 1 + i, Total: thoughts, Text: text, Branch: fmt.Sprintf("way %d", n), From: sequent.To(n), Final: i >= 4,
				})
			}
		}
	}
	return list
}

// foldedIn returns how many thoughts a chart says that it folds.
func foldedIn(chart string) (n int) {
	_, node, _ := strings.Cut(chart, `folded["`)
	_, _ = fmt.Sscanf(node, "%d of", &n)
	return n
}

// A session of 2,000 thoughts fits, with every branch, revision and conclusion.
func TestMermaidFolds(t *testing.T) {
	drafts := long(2000, 100, 40, "Look at the counters, at the “hits” and the misses; then at the size of each entry of the cache.")
	s := recorded(t, key("s"), drafts...)
	chart := archive.Mermaid(s)
	checkChart(t, chart)
	if folded := foldedIn(chart); folded < 1000 || folded > 1990 {
		t.Errorf("%d thoughts are folded, and the chart begins\n%.400s", folded, chart)
	}
	for _, branch := range s.Branches() {
		if !strings.Contains(chart, "Branch "+branch+"<br/>") {
			t.Errorf("the branch %q is not drawn", branch)
		}
	}
	for thought := range s.All() {
		_, named := thought.Revises.Number()
		if !named && !thought.Final {
			continue
		}
		if node := fmt.Sprintf("\n    t%d[", thought.Seq); !strings.Contains(chart, node) {
			t.Errorf("thought %d has no node", thought.Seq)
		}
		if named && !strings.Contains(chart, fmt.Sprintf("    t%d -.->|\"replaces\"| ", thought.Seq)) {
			t.Errorf("the revision %d replaces nothing", thought.Seq)
		}
	}
	if edges := strings.Count(chart, "-->") + strings.Count(chart, "-.->"); edges < 300 {
		t.Errorf("%d edges waste the room for %d", edges, 500)
	}
}

// Whatever the shape of a session, the chart is one that Mermaid accepts.
func TestMermaidAlwaysFits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		drafts []sequent.Draft
		folds  bool
	}{
		{"short", long(200, 0, 0, "short"), false},
		{"many edges", long(600, 0, 0, "short"), true},
		{"shorter labels", long(480, 0, 0, strings.Repeat("Much text. ", 9)), false},
		{"emoji", long(400, 0, 0, strings.Repeat("💭", 80)), true},
		{"entities", long(450, 0, 0, strings.Repeat("#[]", 30)), true},
		{"all revise", long(1500, 0, 3, "short"), true},
		{"many branches", long(4000, 2, 0, "short"), true},
		{"more branches than edges", func() []sequent.Draft {
			var list []sequent.Draft
			for i := range 900 {
				list = append(list, sequent.Draft{Number: i + 1, Text: "x", Branch: fmt.Sprint("b", i), From: sequent.To(max(i, 1))})
			}
			return list
		}(), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := recorded(t, key("s"), tt.drafts...)
			chart := archive.Mermaid(s)
			checkChart(t, chart)
			if folded := foldedIn(chart); folded > 0 != tt.folds || folded+strings.Count(chart, "[\"Thought ")+strings.Count(chart, "[\"Branch ")+
				strings.Count(chart, "[\"Revision") != s.Len() {
				t.Errorf("%d thoughts are folded:\n%.300s", folded, chart)
			}
		})
	}
}

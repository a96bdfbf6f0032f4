package archive

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// The limits of Mermaid's defaults maxEdges (500) and maxTextSize (50,000), with room for
// a few lines that are added by hand.
const (
	maxEdges = 490
	maxText  = 49_000
)

// drawable reports whether Mermaid accepts a text of that length. It counts as JavaScript
// does: characters beyond the basic plane twice.
func drawable(chart string) bool {
	n := 0
	for _, r := range chart {
		n += max(utf8.RuneLen(r)-2, 1)
	}
	return n <= maxText
}

// A graph is a session as Mermaid draws it.
type graph struct {
	thoughts []sequent.Thought
	disputed map[int]bool             // Seqs of thoughts that a person calls wrong, until they are revised
	lines    [][]int                  // Seqs of the thoughts of each line, in the order of first use
	place    []struct{ line, at int } // Seq → where it is in lines
	order    []int                    // Seqs in the order in which thoughts get nodes of their own
}

func newGraph(s *sequent.Session) *graph {
	g := &graph{thoughts: slices.Collect(s.All()), disputed: make(map[int]bool)}
	for i, st := range s.Standings() {
		if st.State == sequent.Disputed {
			g.disputed[i+1] = true
		}
	}
	g.place = make([]struct{ line, at int }, len(g.thoughts)+1)
	at := make(map[string]int)
	for _, t := range g.thoughts {
		i, ok := at[t.Branch]
		if !ok {
			i = len(g.lines)
			at[t.Branch] = i
			g.lines = append(g.lines, nil)
		}
		g.place[t.Seq].line, g.place[t.Seq].at = i, len(g.lines[i])
		g.lines[i] = append(g.lines[i], t.Seq)
	}
	g.rank()
	return g
}

// rank sets the order: where lines begin, end and leave each other, and conclusions; then
// revisions; then what they replace; then all others. In each of these the newest is
// first.
func (g *graph) rank() {
	const structure, revision, replaced, other = 0, 1, 2, 3
	ranks := make([]int, len(g.thoughts)+1)
	for i := range ranks {
		ranks[i] = other
	}
	lift := func(seq, rank int) { ranks[seq] = min(ranks[seq], rank) }
	for _, line := range g.lines {
		lift(line[0], structure)
		lift(line[len(line)-1], structure)
		lift(g.thoughts[line[0]-1].After, structure)
	}
	for _, t := range g.thoughts {
		if !t.More {
			lift(t.Seq, structure)
		}
		if _, _, ok := revises(t); ok {
			lift(t.Seq, revision)
		}
		lift(t.Supersedes, replaced)
	}
	for seq := len(g.thoughts); seq > 0; seq-- {
		g.order = append(g.order, seq)
	}
	slices.SortStableFunc(g.order, func(a, b int) int { return ranks[a] - ranks[b] })
}

// A partition divides the thoughts of a graph into nodes. A block is the Seq of the first
// thought of a node.
type partition struct {
	block  []int // Seq → block, or hidden
	size   []int // block → number of thoughts
	folded int   // thoughts without a node of their own
}

// hidden is the block of thoughts on branches that are not drawn.
const hidden = 0

// node returns the name of a node.
func (p *partition) node(block int) string {
	if p.size[block] == 1 {
		return fmt.Sprintf("t%d", block)
	}
	return fmt.Sprintf("run%d", block)
}

// whole returns the partition in which every thought has its node.
func (g *graph) whole() *partition { return g.partition(len(g.lines), len(g.order)) }

// partition returns the one that draws the first lines, with nodes of their own for the
// first own thoughts of the order. What is between them is a run.
func (g *graph) partition(lines, own int) *partition {
	p := &partition{block: make([]int, len(g.thoughts)+1), size: make([]int, len(g.thoughts)+1)}
	single := make([]bool, len(g.thoughts)+1)
	for _, seq := range g.order[:own] {
		single[seq] = true
	}
	for _, line := range g.lines[:lines] {
		run := 0
		for _, seq := range line {
			if single[seq] || run == 0 {
				run = seq
			}
			p.block[seq] = run
			p.size[run]++
			if single[seq] {
				run = 0
			}
		}
	}
	for seq := 1; seq < len(p.block); seq++ {
		if at := p.block[seq]; at == hidden || p.size[at] > 1 {
			p.folded++
		}
	}
	return p
}

// An edge connects two nodes.
type edge struct {
	from, to int // blocks
	replaces bool
}

// edges counts the edges of a partition, up to one more than maxEdges. It reports whether
// that is at most maxEdges.
func (g *graph) edges(p *partition) (n int, fits bool) {
	all := make(map[edge]bool)
	for i := range g.thoughts {
		t := &g.thoughts[i]
		at := p.block[t.Seq]
		if at == hidden {
			continue
		}
		if before := p.block[t.After]; before != hidden && before != at {
			all[edge{from: before, to: at}] = true
		}
		if old := p.block[t.Supersedes]; old != hidden && old != at {
			all[edge{from: at, to: old, replaces: true}] = true
		}
		if len(all) > maxEdges {
			return len(all), false
		}
	}
	return len(all), true
}

// fold returns the partition that draws as much as Mermaid accepts: first as many lines as
// possible, each as one run, then as many thoughts as possible.
func (g *graph) fold() *partition {
	fits := func(lines, own int) bool {
		p := g.partition(lines, own)
		_, ok := g.edges(p)
		return ok && drawable(g.chart(p, foldedLabelLength))
	}
	// A finer partition has no fewer edges and hardly less text, so the largest one that
	// fits is found by bisection.
	lines := max(1, sort.Search(len(g.lines), func(n int) bool { return !fits(n+1, 0) }))
	own := sort.Search(len(g.order), func(n int) bool { return !fits(lines, n+1) })
	for own > 0 && !fits(lines, own) {
		own--
	}
	return g.partition(lines, own)
}

// runLabel returns the label of a run: its branch, its numbers, the revisions in it, and
// how its last thought begins.
func (g *graph) runLabel(p *partition, block, length int) string {
	const most = 8 // revisions that are named
	var numbers, revisions []int
	var last sequent.Thought
	place := g.place[block]
	for _, seq := range g.lines[place.line][place.at : place.at+p.size[block]] {
		last = g.thoughts[seq-1]
		numbers = append(numbers, last.Number)
		if _, _, ok := revises(last); ok {
			revisions = append(revisions, last.Number)
		}
	}
	var lines []string
	if last.Branch != "" {
		lines = append(lines, "Branch "+literal(oneLine(last.Branch, labelLength)))
	}
	lines = append(lines, fmt.Sprintf("%d thoughts, %d to %d", len(numbers), numbers[0], numbers[len(numbers)-1]))
	if n := len(revisions); n > 0 {
		text := "revisions: " + strings.Trim(fmt.Sprint(revisions[:min(n, most)]), "[]")
		if n > most {
			text += fmt.Sprintf(" and %d more", n-most)
		}
		lines = append(lines, text)
	}
	if text := oneLine(last.Text, length); text != "" {
		lines = append(lines, "“"+literal(text)+"”")
	}
	return strings.Join(lines, "<br/>")
}

package brief

import (
	"cmp"
	"slices"
	"strings"
)

// choose chooses the pieces that fit, those first that weigh most. It fails if the writer's
// context is done.
func (w *writer) choose(bytes int) error {
	var all []candidate
	for _, it := range w.items {
		for i := range it.pieces {
			if it.pieces[i].weight > weightUnshown {
				all = append(all, candidate{it, i})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.weight(), a.weight()) })
	for _, c := range all {
		cost := c.it.cost(c.i)
		if cost <= bytes || c.it.section == sectionHead {
			bytes -= cost
			c.it.pieces[c.i].chosen = true
			c.it.begun = true
		}
	}
	return w.ctx.Err()
}

// A candidate is a piece that may be chosen.
type candidate struct {
	it *item
	i  int // in it.pieces
}

func (c candidate) weight() float64 { return c.it.pieces[c.i].weight }

// cost returns how many bytes longer the brief gets with piece i of the item: with its
// text, a space before it, and the gaps that it divides.
func (it *item) cost(i int) int {
	n := len(it.pieces[i].text)
	if n > 0 && (it.head != "" || it.begun) {
		n++
	}
	gaps := 0
	for _, beside := range []int{i - 1, i + 1} {
		if beside >= 0 && beside < len(it.pieces) && !it.pieces[beside].chosen {
			gaps++
		}
	}
	if it.begun {
		gaps-- // the one in place of this piece
	} else {
		n += len(it.head) + len("\n")
	}
	return n + gaps*len(gap)
}

// gap stands for sentences that are left out.
const gap = " …"

// text returns the chosen pieces.
func (w *writer) text() string {
	items := slices.Clone(w.items)
	slices.SortStableFunc(items, func(a, b *item) int {
		// Thoughts were collected from the newest on; they are shown in the order of the log.
		if a.section == sectionThoughts && b.section == sectionThoughts {
			return cmp.Compare(a.seq, b.seq)
		}
		return cmp.Compare(a.section, b.section)
	})
	var b strings.Builder
	for _, it := range items {
		if it.begun {
			it.write(&b)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (it *item) write(b *strings.Builder) {
	b.WriteString(it.head)
	said, skipped := it.head != "", false
	for _, p := range it.pieces {
		if !p.chosen {
			skipped = true
			continue
		}
		if skipped {
			b.WriteString(gap)
			skipped = false
		}
		if said && p.text != "" && !isCode(p.text) && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte(' ')
		}
		b.WriteString(p.text)
		said = true
	}
	if skipped {
		b.WriteString(gap)
	}
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
}

// left returns how many of a number of thoughts are not shown whole.
func (w *writer) left(holding int) int {
	for _, it := range w.items {
		if it.seq > 0 && !slices.ContainsFunc(it.pieces, func(p piece) bool { return !p.chosen }) {
			holding--
		}
	}
	return holding
}

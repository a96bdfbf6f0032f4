package brief

import (
	"cmp"
	"slices"
	"strings"
)

// choose chooses the pieces that fit, those first that weigh most.
func (w *writer) choose(bytes int) {
	type candidate struct {
		it *item
		p  *piece
	}
	var all []candidate
	for _, it := range w.items {
		for i := range it.pieces {
			all = append(all, candidate{it, &it.pieces[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.p.weight, a.p.weight) })
	for _, c := range all {
		before := c.it.size()
		c.p.chosen = true
		cost := c.it.size() - before
		if cost <= bytes || c.it.section == sectionHead {
			bytes -= cost
		} else {
			c.p.chosen = false
		}
	}
}

// size returns the length of the item's line as it is chosen.
func (it *item) size() int {
	if !it.begun() {
		return 0
	}
	var b strings.Builder
	it.write(&b)
	return b.Len()
}

func (it *item) begun() bool {
	return slices.ContainsFunc(it.pieces, func(p piece) bool { return p.chosen })
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
		if it.begun() {
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
		if said && p.text != "" {
			b.WriteByte(' ')
		}
		b.WriteString(p.text)
		said = true
	}
	if skipped {
		b.WriteString(gap)
	}
	b.WriteByte('\n')
}

// left returns the number of thoughts that hold and are not shown whole.
func (w *writer) left() int {
	holding := 0
	for _, t := range w.log {
		if w.holds(t.Seq) {
			holding++
		}
	}
	return holding - w.wholeOf()
}

// whole reports whether all pieces are chosen.
func (it *item) whole() bool {
	return !slices.ContainsFunc(it.pieces, func(p piece) bool { return !p.chosen })
}

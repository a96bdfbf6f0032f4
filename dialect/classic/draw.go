package classic

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

const (
	unknownWidth = 80 // columns, where nobody knows
	leastWidth   = 20 // a narrower terminal breaks the box; a narrower box helps nobody
	tabStop      = 4
)

// A drawing draws thoughts in boxes, for people.
type drawing struct {
	mu     sync.Mutex // held while a box is written, so that boxes do not mix
	out    io.Writer
	colour bool
	width  func() int
}

// thought draws one thought. That it cannot be shown is no reason to fail.
func (d *drawing) thought(a args) {
	d.mu.Lock()
	defer d.mu.Unlock()
	columns := unknownWidth
	if d.width != nil {
		if n := d.width(); n > 0 {
			columns = n
		}
	}
	kind, header := title(a)
	_, _ = io.WriteString(d.out, box(kind, header, a.Thought, max(columns, leastWidth), d.colour))
}

// A kind of thought has a mark and a colour.
type kind struct{ mark, colour string }

var (
	revision = kind{"🔄 Revision", "\x1b[33m"} // yellow
	branch   = kind{"🌿 Branch", "\x1b[32m"}   // green
	plain    = kind{"💭 Thought", "\x1b[34m"}  // blue
)

// title returns a thought's kind, and what follows its mark in the header.
func title(a args) (kind, string) {
	count := fmt.Sprintf(" %d/%d", a.Number, a.Total)
	switch {
	case a.isRevision() && a.Revises != nil:
		return revision, fmt.Sprintf("%s (revising thought %d)", count, *a.Revises)
	case a.isRevision():
		return revision, count
	case a.From != nil && a.Branch != nil && *a.Branch != "":
		return branch, fmt.Sprintf("%s (from thought %d, ID: %s)", count, *a.From, *a.Branch)
	case a.From != nil:
		return branch, fmt.Sprintf("%s (from thought %d)", count, *a.From)
	default:
		return plain, count
	}
}

// box returns a header and a text in a box that is as wide as they need, and at
// most as wide as columns.
func box(k kind, header, text string, columns int, colour bool) string {
	const frame = 4 // "│ " and " │"
	head, body := wrap(k.mark+header, columns-frame), wrap(text, columns-frame)
	width := 0
	for _, row := range slices.Concat(head, body) {
		width = max(width, columnsOf(row))
	}
	var b strings.Builder
	row := func(text, shown string) {
		pad := strings.Repeat(" ", width-columnsOf(text))
		b.WriteString("│ " + shown + pad + " │\n")
	}
	rule := strings.Repeat("─", width+2)
	b.WriteString("\n┌" + rule + "┐\n")
	for i, text := range head {
		shown := text
		if rest, whole := strings.CutPrefix(text, k.mark); whole && i == 0 && colour {
			shown = k.colour + k.mark + "\x1b[39m" + rest
		}
		row(text, shown)
	}
	b.WriteString("├" + rule + "┤\n")
	for _, text := range body {
		row(text, text)
	}
	b.WriteString("└" + rule + "┘\n")
	return b.String()
}

package classic

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/internal/draw"
)

const (
	defaultWidth = 80 // columns, if the width is unknown
	minWidth     = 20 // columns of the box, also on a narrower terminal
)

// A drawing draws thoughts in boxes.
type drawing struct {
	mu     sync.Mutex // held while a box is written, so that boxes do not mix
	out    io.Writer
	colour bool
	width  func() int
}

// thought draws one thought. It ignores write errors: the thought is recorded.
func (d *drawing) thought(a args) {
	d.mu.Lock()
	defer d.mu.Unlock()
	columns := defaultWidth
	if d.width != nil {
		if n := d.width(); n > 0 {
			columns = n
		}
	}
	kind, header := title(a)
	_, _ = io.WriteString(d.out, box(kind, header, a.Thought, max(columns, minWidth), d.colour))
}

// A kind is a kind of thought, with its mark and colour.
type kind struct{ mark, colour string }

var (
	revision = kind{"🔄 Revision", "\x1b[33m"} // yellow
	branch   = kind{"🌿 Branch", "\x1b[32m"}   // green
	plain    = kind{"💭 Thought", "\x1b[34m"}  // blue
)

// title returns the kind of a thought and the rest of the header after its mark.
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

// box returns a header and a text in a box. The box is as wide as its longest row, and at
// most as wide as columns.
func box(k kind, header, text string, columns int, colour bool) string {
	const frame = 4 // "│ " and " │"
	head, body := draw.Wrap(k.mark+header, columns-frame), draw.Wrap(text, columns-frame)
	width := 0
	for _, row := range slices.Concat(head, body) {
		width = max(width, draw.Width(row))
	}
	var b strings.Builder
	row := func(text, shown string) {
		pad := strings.Repeat(" ", width-draw.Width(text))
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

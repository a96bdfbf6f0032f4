package command

import (
	"fmt"
	"io"
	"time"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A meter shows progress in one line of a terminal, which it overwrites. Without a
// terminal it shows nothing.
type meter struct {
	out     io.Writer // nil shows nothing
	columns func() int
	now     func() time.Time
	start   time.Time
	last    time.Time // last update
	shown   bool
}

// newMeter returns a meter on standard error.
func (p *program) newMeter() *meter {
	m := &meter{now: time.Now, columns: func() int { return columnsOf(p.err) }}
	if isTerminal(p.err) && !p.json {
		m.out = p.err
	}
	return m
}

// show shows a line. It limits the rate of updates, and shows nothing at first, so
// that short operations do not flicker.
func (m *meter) show(text string) {
	const delay, interval = 300 * time.Millisecond, 100 * time.Millisecond
	if m.out == nil {
		return
	}
	now := m.now()
	if m.start.IsZero() {
		m.start = now
	}
	if now.Sub(m.start) < delay || now.Sub(m.last) < interval {
		return
	}
	m.last, m.shown = now, true
	width := max(m.columns()-1, 20)
	fmt.Fprintf(m.out, "\r\x1b[K%s", draw.Truncate(printable.Line(text), width))
}

// clear removes the line.
func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.out, "\r\x1b[K")
		m.shown = false
	}
}

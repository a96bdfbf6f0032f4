package main

import (
	"fmt"
	"io"
	"time"

	"github.com/sequent-dev/sequent/internal/draw"
)

// A meter shows on a terminal how far something is, in a line that is written
// over. Elsewhere it shows nothing.
type meter struct {
	out     io.Writer // nil shows nothing
	columns func() int
	charset draw.Charset
	now     func() time.Time
	last    time.Time
	begun   time.Time
	shown   bool
}

// newMeter returns a meter on standard error, which standard output does not
// get in the way of.
func (p *program) newMeter() *meter {
	m := &meter{now: time.Now, charset: p.charset(), columns: func() int { return columnsOf(p.err) }}
	if isTerminal(p.err) && !p.json {
		m.out = p.err
	}
	return m
}

// show shows a line, unless the one before is hardly to be read yet, or it may
// all be over in a moment.
func (m *meter) show(text string) {
	const first, next = 300 * time.Millisecond, 100 * time.Millisecond
	if m.out == nil {
		return
	}
	now := m.now()
	if m.begun.IsZero() {
		m.begun = now
	}
	if now.Sub(m.begun) < first || now.Sub(m.last) < next {
		return
	}
	m.last, m.shown = now, true
	width := max(m.columns()-1, 20)
	fmt.Fprintf(m.out, "\r\x1b[K%s", draw.Truncate(draw.One(text, m.charset), width, ellipsis(m.charset)))
}

// clear makes room for something else.
func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.out, "\r\x1b[K")
		m.shown = false
	}
}

package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault/index"
)

// The most columns of text, whose rows are hard to read if they are longer, and of tables, whose rows
// may be as wide as the terminal.
const (
	maxProseColumns = 120
	maxColumns      = 1000
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// sizeOf returns the width and the height of a terminal; of another stream 0.
func sizeOf(stream any) (columns, rows int) {
	if f, ok := stream.(*os.File); ok {
		columns, rows, _ = term.GetSize(f.Fd())
	}
	return columns, rows
}

// columnsUpTo returns the width of the output: that of --width, of the terminal, or 80.
func (p *program) columnsUpTo(most int) int {
	columns, _ := sizeOf(p.out)
	return cmp.Or(p.width, min(columns, most), 80)
}

// drawing returns the options of drawings.
func (p *program) drawing() draw.Options {
	return draw.Options{Width: p.columnsUpTo(maxProseColumns), Now: p.now()}
}

// tabular reports whether a list is laid out as a table, for people.
func (p *program) tabular() bool {
	return isTerminal(p.out) || p.width > 0 || p.color == "always"
}

// colored reports whether to use colour on a stream.
func (p *program) colored(stream any) bool {
	f, ok := stream.(*os.File)
	can := ok && isTerminal(f) && canStyle(f) // which enables escape sequences on Windows
	return p.color == "always" || p.color == "auto" && can && p.getenv("NO_COLOR") == ""
}

// A meter shows progress in one line of a terminal, which it overwrites. Without a
// terminal it shows nothing.
type meter struct {
	out   io.Writer // nil shows nothing
	last  time.Time // last update
	shown bool
}

// newMeter returns a meter on standard error.
func (p *program) newMeter() *meter {
	m := &meter{last: time.Now()}
	if isTerminal(p.err) && !p.json {
		m.out = p.err
	}
	return m
}

// show shows a line. It limits the rate of updates, so that short operations do not flicker.
func (m *meter) show(format string, args ...any) {
	const interval = 200 * time.Millisecond
	if m.out == nil || time.Since(m.last) < interval {
		return
	}
	m.last, m.shown = time.Now(), true
	columns, _ := sizeOf(m.out)
	fmt.Fprintf(m.out, "\r\x1b[K%s", draw.Truncate(printable.Line(fmt.Sprintf(format, args...)), max(columns-1, 20)))
}

// bytes returns a function that shows how many bytes are done.
func (m *meter) bytes(what string) func(done, total int64) {
	return func(done, total int64) { m.show("%s of %s %s", mebibytes(done), mebibytes(max(done, total)), what) }
}

// stage shows the progress of a stage.
func (m *meter) stage(p index.Progress) { m.show("%s %d of %d", p.Stage, p.Done, p.Total) }

// clear removes the line.
func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.out, "\r\x1b[K")
		m.shown = false
	}
}

// mebibytes formats a size in bytes.
func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

package command

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/charmbracelet/x/term"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// maxProseWidth is the default maximum width in columns. Longer rows are hard to
// read.
const maxProseWidth = 120

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// columns returns the width of drawings.
func (p *program) columns() int {
	if p.width > 0 {
		return p.width
	}
	if w := columnsOf(p.out); w > 0 {
		return min(w, maxProseWidth)
	}
	return 80
}

// tableColumns returns the width of tables, whose rows may be as wide as the terminal.
func (p *program) tableColumns() int {
	if p.width > 0 {
		return p.width
	}
	if w := columnsOf(p.out); w > 0 {
		return w
	}
	return 80
}

// columnsOf returns the width of a terminal, or 0.
func columnsOf(stream any) int {
	if f, ok := stream.(*os.File); ok && isTerminal(f) {
		if w, _, err := term.GetSize(f.Fd()); err == nil {
			return w
		}
	}
	return 0
}

// heightOf returns the number of rows of a terminal, or the most there can be if it is not known.
func heightOf(stream any) int {
	if f, ok := stream.(*os.File); ok {
		if _, h, err := term.GetSize(f.Fd()); err == nil && h > 0 {
			return h
		}
	}
	return math.MaxInt
}

// colored reports whether to use colour on a stream.
func (p *program) colored(stream any) bool {
	switch p.color {
	case "always":
		if f, ok := stream.(*os.File); ok && isTerminal(f) {
			canStyle(f) // enables escape sequences on Windows
		}
		return true
	case "never":
		return false
	}
	f, ok := stream.(*os.File)
	return ok && isTerminal(f) && p.getenv("NO_COLOR") == "" && canStyle(f)
}

// drawing returns the options of drawings.
func (p *program) drawing() draw.Options {
	return draw.Options{Width: p.columns(), Now: p.now()}
}

// print writes lines, in colour if enabled.
func (p *program) print(lines ...draw.Line) error {
	_, err := io.WriteString(p.out, p.render(lines))
	return err
}

func (p *program) render(lines []draw.Line) string {
	if p.colored(p.out) {
		return draw.Styled(lines)
	}
	return draw.Plain(lines)
}

// printf writes a line of plain text. The commands that the format tells to run can be run, and
// nothing in the arguments is acted upon.
func (p *program) printf(format string, args ...any) error {
	return sayTo(p.out, format, args)
}

// tell is printf for standard error.
func (p *program) tell(format string, args ...any) { _ = sayTo(p.err, format, args) }

func sayTo(w io.Writer, format string, args []any) error {
	_, err := io.WriteString(w, printable.Text(fmt.Sprintf(runnable(format), args...))+"\n")
	return err
}

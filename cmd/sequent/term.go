package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/draw"
)

// widest is how wide prose gets on a wide terminal, unless --width says more:
// longer rows are hard to read.
const widest = 120

// isTerminal reports whether a stream is one that a person looks at.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// columns returns how wide to draw.
func (p *program) columns() int {
	if p.width > 0 {
		return p.width
	}
	if w := columnsOf(p.out); w > 0 {
		return min(w, widest)
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

// colored reports whether to use colour on a stream.
func (p *program) colored(stream any) bool {
	switch p.color {
	case "always":
		if f, ok := stream.(*os.File); ok && isTerminal(f) {
			canStyle(f) // whether or not it can
		}
		return true
	case "never":
		return false
	}
	f, ok := stream.(*os.File)
	return ok && isTerminal(f) && p.getenv("NO_COLOR") == "" && canStyle(f)
}

// charset returns the characters that can be shown. The rest of what a thought
// says is left as it is where nobody said which characters those are, as in most
// containers, and where the output is a file.
func (p *program) charset() draw.Charset {
	if runtime.GOOS == "windows" {
		return draw.Unicode // Go writes UTF-16 to its consoles
	}
	locale := p.getenv("LC_ALL")
	if locale == "" {
		locale = p.getenv("LC_CTYPE")
	}
	if locale == "" {
		locale = p.getenv("LANG")
	}
	lower := strings.ToLower(locale)
	switch {
	case strings.Contains(lower, "utf-8"), strings.Contains(lower, "utf8"):
		return draw.Unicode
	case locale == "" && runtime.GOOS == "darwin":
		return draw.Unicode // every terminal there is
	case locale == "", !isTerminal(p.out):
		return draw.ASCII
	}
	return draw.ASCIIOnly
}

// drawing returns how sessions are drawn.
func (p *program) drawing() draw.Options {
	return draw.Options{Width: p.columns(), Charset: p.charset(), Now: p.now()}
}

// print writes lines, with colour if that is wanted.
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

// say writes a line of plain text.
func (p *program) say(format string, args ...any) error {
	_, err := fmt.Fprintf(p.out, format+"\n", args...)
	return err
}

// hasWidth gives a command the flag --width.
func (p *program) hasWidth(c *cobra.Command) {
	c.Flags().IntVar(&p.width, "width", 0, "draw so many `COLUMNS` wide (default: the terminal's width, at most 120)")
}

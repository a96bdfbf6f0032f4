// Package draw draws a session as a tree of text: the main line straight down, each
// branch in its own lane to the right of the thought where it begins, revisions with the
// number of the revised thought.
//
// [Session] is a pure function from a session to [Line]s of [Span]s, each with a [Role].
// [Styled] and [Plain] turn lines into text for a terminal or a file. Control characters
// in thoughts are shown and never sent to a terminal.
package draw

import (
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// dot separates remarks.
const dot = " · "

// minWidth is the minimum width of a drawing, also on a narrower terminal.
const minWidth = 30

// Options configure a drawing. The zero Options draw 80 columns.
type Options struct {
	Width  int       // columns; 0 means 80, and less than 30 means 30
	Full   bool      // fold nothing
	Newest int       // Seq of a thought to highlight; 0 for none
	State  string    // shown instead of the session's state; empty means that
	Now    time.Time // for "5 minutes ago"; zero omits ages

	// Command returns the command line that shows a session or a thought; the
	// reference is an ID with what follows it, such as @17. Folds name the command
	// that opens them. If it is nil, they name none.
	Command func(reference string, flags ...string) string
}

func (o Options) width() int {
	if o.Width == 0 {
		return 80
	}
	return max(o.Width, minWidth)
}

// A Role is the function of a span, which selects its style.
type Role int

// The roles of spans.
const (
	Text       Role = iota // text of a thought
	Superseded             // text of a revised thought
	Lane                   // the line of a lane
	Number                 // 3/9
	Label                  // the name of a branch
	Tag                    // replaces 2
	Final                  // the mark of a final thought
	Newest                 // the mark of the highlighted thought
	Fold                   // a note about folded thoughts or rows
	Title                  // of the session
	Meta                   // of the session: its id, age, state
	Match                  // words of a search
)

// A Span is a piece of a line.
type Span struct {
	Text string
	Role Role
	Lane int // number of the line of the session, for the colour: 0 is the main line
}

// A Line is one row of a drawing, at most Options.Width wide.
type Line []Span

// A Drawing is the drawing of a session.
type Drawing struct {
	Lines  []Line
	Folded bool        // parts are folded, which Options.Full would show
	Rows   map[int]int // Seq → index in Lines of the first row of a thought that is shown
}

// Session draws a session with its title and conclusion.
func Session(s *sequent.Session, o Options) Drawing {
	p := newPainter(s, o)
	p.header()
	p.tree()
	p.conclusion()
	return p.drawing
}

// Thought draws one thought in one row, cut to the width.
func Thought(t sequent.Thought, o Options) Line {
	line := Line{{Text: NumberOf(t) + " ", Role: Number}}
	if t.Branch != "" {
		line = append(line, Span{Text: printable.Line(t.Branch) + " ", Role: Label, Lane: 1})
	}
	if n, named := t.Revises.Number(); named {
		line = append(line, Span{Text: fmt.Sprintf("replaces %d ", n), Role: Tag})
	} else if t.Revision {
		line = append(line, Span{Text: "revision ", Role: Tag})
	}
	line = append(line, Span{Text: printable.Line(t.Text)})
	if t.Final {
		line = append(line, Span{Text: " ■", Role: Final})
	}
	return Cut(line, o)
}

// Plain returns lines without style. Each ends with a line feed.
func Plain(lines []Line) string {
	return written(lines, func(s Span) string { return s.Text })
}

func written(lines []Line, styled func(Span) string) string {
	var b strings.Builder
	for _, line := range lines {
		for _, s := range line {
			s.Text = printable.Text(s.Text)
			b.WriteString(styled(s))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Cut truncates a line to the width.
func Cut(line Line, o Options) Line {
	total := 0
	for i, s := range line {
		w := Width(s.Text)
		if total+w > o.width() {
			s.Text = Truncate(s.Text, o.width()-total)
			return append(line[:i:i], s)
		}
		total += w
	}
	return line
}

// Marked draws a line of text from Lines or One in indented rows. At has the byte ranges
// that match a search.
func Marked(text string, at [][2]int, o Options, indent int) []Line {
	var lines []Line
	pos := 0
	for _, row := range wrap(text, 0, o.width()-indent) {
		pos += max(strings.Index(text[pos:], row), 0)
		line := Line{{Text: strings.Repeat(" ", indent)}}
		done, end := pos, pos+len(row)
		for _, r := range at {
			from, to := max(r[0], done), min(r[1], end)
			if from < to {
				line = append(line, Span{Text: text[done:from]}, Span{Text: text[from:to], Role: Match})
				done = to
			}
		}
		lines = append(lines, append(line, Span{Text: text[done:end]}))
		pos = end
	}
	return lines
}

// Beside draws a text to the right of a lead, in rows that begin in the same column.
func Beside(lead Line, text string, role Role, o Options) []Line {
	width := lead.width()
	var lines []Line
	for _, line := range Lines(text) {
		for _, row := range wrap(line, 0, max(o.width()-width, minWidth/2)) {
			lines = append(lines, append(lead, Span{Text: row, Role: role}).trimmed())
			lead = Line{{Text: strings.Repeat(" ", width)}}
		}
	}
	return lines
}

// Package draw draws a session as a tree of text: the main line straight down,
// each branch in a lane of its own to the right of the thought it leaves at,
// revisions joined by number to what they revise.
//
// [Session] is a pure function from a session to [Line]s of [Span]s, each with
// the [Role] it plays; [Styled] and [Plain] turn these into what a terminal or
// a file gets. What thoughts say never reaches a terminal as anything but
// text: control characters are shown, not sent.
package draw

import (
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// A Charset says which characters the drawing may use.
type Charset int

// The values of Charset.
const (
	Unicode   Charset = iota // all
	ASCII                    // lanes and marks in ASCII, thoughts as they are
	ASCIIOnly                // nothing but ASCII
)

// narrowest is the least width that a drawing is made for. It is wider than a
// smaller terminal, rather than a column of single letters.
const narrowest = 30

// Options say how to draw. The zero Options draw 80 columns of Unicode.
type Options struct {
	Width   int // columns; 0 means 80, and less than 30 means 30
	Charset Charset
	Full    bool      // fold nothing
	Newest  int       // Seq of a thought to point out; 0 for none
	Now     time.Time // for "5 minutes ago"; zero means that ages are left out
}

func (o Options) width() int {
	if o.Width == 0 {
		return 80
	}
	return max(o.Width, narrowest)
}

// A Role says what a span is in the drawing, for its style.
type Role int

// The roles of spans.
const (
	Text       Role = iota // what a thought says
	Superseded             // what a thought says that was revised
	Lane                   // the line of a lane
	Number                 // 3/9
	Label                  // the name of a branch
	Tag                    // revises 2
	Final                  // the mark of a thought after which none follows
	Newest                 // the mark of the thought pointed out
	Fold                   // what stands for what is not shown
	Title                  // of the session
	Meta                   // of the session: its id, age, state
	Match                  // what a search was for
)

// A Span is a piece of a line.
type Span struct {
	Text string
	Role Role
	Lane int // which line of the session it belongs to, for its colour: 0 is the main line
}

// A Line is one row of a drawing, at most as wide as asked for.
type Line []Span

// A Drawing is a session drawn.
type Drawing struct {
	Lines  []Line
	Folded bool        // something is not shown that Options.Full would show
	Rows   map[int]int // Seq → index in Lines of the first row of that thought, if it is shown
}

// Session draws a session with its title and, where it has one, its conclusion.
func Session(s *sequent.Session, o Options) Drawing {
	p := newPainter(s, o)
	p.header()
	p.tree()
	p.conclusion()
	return p.drawing
}

// Thought draws one thought in one row, cut to the width.
func Thought(t sequent.Thought, o Options) Line {
	p := &painter{o: o, glyphs: glyphsOf(o.Charset), lanes: map[string]int{}, numbers: map[int]int{}}
	line := Line{{Text: NumberOf(t) + " ", Role: Number}}
	if t.Branch != "" {
		line = append(line, Span{Text: One(t.Branch, o.Charset) + " ", Role: Label, Lane: 1})
	}
	if tag := p.revises(t); tag != "" {
		line = append(line, Span{Text: tag + " ", Role: Tag})
	}
	line = append(line, Span{Text: One(t.Text, o.Charset)})
	if !t.More {
		line = append(line, Span{Text: " " + p.glyphs.final, Role: Final})
	}
	return cut(line, o.width(), p.glyphs.ellipsis)
}

// Plain returns lines without style. Each ends with a line feed.
func Plain(lines []Line) string {
	var b strings.Builder
	for _, line := range lines {
		for _, s := range line {
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Cut shortens a line to the width.
func Cut(line Line, o Options) Line { return cut(line, o.width(), glyphsOf(o.Charset).ellipsis) }

// Marked draws one line of text that Lines or One has returned, broken into
// indented rows. At gives the bytes of it that match a search.
func Marked(text string, at [][2]int, o Options, indent int) []Line {
	if o.Charset == ASCIIOnly {
		text, at = clean(text, o.Charset), nil
	}
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

// cut shortens a line to a width.
func cut(line Line, width int, ellipsis string) Line {
	total := 0
	for i, s := range line {
		w := Width(s.Text)
		if total+w > width {
			s.Text = Truncate(s.Text, width-total, ellipsis)
			return append(line[:i:i], s)
		}
		total += w
	}
	return line
}

// Beside draws a text to the right of a lead, in rows that begin in the same
// column.
func Beside(lead Line, text string, role Role, o Options) []Line {
	width := lead.width()
	var lines []Line
	for _, line := range Lines(text, o.Charset) {
		for _, row := range wrap(line, 0, max(o.width()-width, narrowest/2)) {
			lines = append(lines, append(lead, Span{Text: row, Role: role}).trimmed())
			lead = Line{{Text: strings.Repeat(" ", width)}}
		}
	}
	return lines
}

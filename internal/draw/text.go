package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/sequent-dev/sequent/internal/printable"
)

// tab is the width of a tab, in columns. Tab stops would move with the lanes.
const tab = 4

// Width returns the width of s on a terminal, in columns. The halfwidth katakana sound
// marks take a column each, although UAX #29 puts them into the grapheme cluster of the
// character before them.
func Width(s string) int {
	return displaywidth.String(strings.Map(func(r rune) rune {
		if r == '\uff9e' || r == '\uff9f' {
			return '\uff8a' // of the same width, and a cluster of its own
		}
		return r
	}, s))
}

// Ellipsis is the mark of text that is cut.
const Ellipsis = "…"

// Truncate truncates s to a width, with an ellipsis at the end if that fits.
func Truncate(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	end, used := 0, 1
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		used += Width(g.Value())
		if used > width {
			break
		}
		end += len(g.Value())
	}
	return s[:end] + Ellipsis
}

// Lines returns the lines of a text, as [printable.Text] shows it. Tabs become spaces.
func Lines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(printable.Text(text), "\t", strings.Repeat(" ", tab)), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// Wrap returns a text, as [printable.Text] shows it, in rows of at most width columns, broken between words
// if possible. No row begins with a character that would join what stands before it.
func Wrap(text string, width int) (rows []string) {
	for _, line := range Lines(text) {
		r, _ := utf8.DecodeRuneInString(line)
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc, unicode.Join_Control) || r >= 0x1F3FB && r <= 0x1F3FF { // emoji modifiers
			line = "◌" + line
		}
		rows = append(rows, wrap(line, 0, width)...)
	}
	return rows
}

// wrap breaks one line into rows of at most width columns. The first row has lost columns
// less. Later rows keep the line's indentation.
func wrap(line string, lost, width int) (rows []string) {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	indent = indent[:min(len(indent), width/3)]
	row, start, gap := indent, lost+len(indent), ""
	used := start // columns of row, with those that the first row has lost
	add := func(text string) {
		if n := Width(text); used > start && used+len(gap)+n > width {
			rows = append(rows, strings.TrimRight(row, " "))
			row, start = indent+text, len(indent)
			used = start + n
		} else {
			row += gap + text
			used += len(gap) + n
		}
		gap = ""
	}
	for seg := range segments(strings.TrimLeft(line, " ")) {
		switch {
		case seg[0] == ' ':
			gap = seg
		case Width(seg) <= width-start:
			add(seg)
		default: // longer than a row
			for g := displaywidth.StringGraphemes(seg); g.Next(); {
				add(g.Value())
			}
		}
	}
	return append(rows, strings.TrimRight(row, " "))
}

// segments yields words and the spaces between them. In scripts without spaces a row may end after any character.
func segments(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		begin, pos, last := 0, 0, word
		for g := displaywidth.StringGraphemes(line); g.Next(); {
			kind := word
			switch {
			case g.Value() == " ":
				kind = space
			case g.Width() > 1:
				kind = wide
			}
			if pos > begin && (kind != last || kind == wide) {
				if !yield(line[begin:pos]) {
					return
				}
				begin = pos
			}
			pos += len(g.Value())
			last = kind
		}
		if pos > begin {
			yield(line[begin:pos])
		}
	}
}

// The kinds of characters for segments.
const (
	word = iota
	space
	wide
)

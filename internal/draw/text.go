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

// invisible has what is removed at the end of a row: a space, and a joiner, which [printable.Text] would show
// where it joins nothing.
const invisible = " \u200d"

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
	return strings.TrimRight(s[:end], invisible[1:]) + Ellipsis
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

// wrap breaks one line into rows of at most width columns: after a space, beside a wide character, as scripts
// without spaces have them, or within a word that is longer than a row. The first row has lost columns less.
// Later rows keep the line's indentation.
func wrap(line string, lost, width int) (rows []string) {
	text := strings.TrimLeft(line, " ")
	indent := line[:min(len(line)-len(text), width/3)]
	used := lost + len(indent)
	start, word, end := 0, 0, 0 // a row can end at word
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		space := g.Value() == " "
		alone := space || g.Width() > 1
		if alone {
			word = end
		}
		after := end + len(g.Value())
		if used += Width(g.Value()); used > width && !space && end > start {
			if word == start {
				word = end
			}
			rows = append(rows, strings.TrimRight(indent+text[start:word], invisible))
			start, used = word, len(indent)+Width(text[word:after])
		}
		if end = after; alone {
			word = end
		}
	}
	return append(rows, strings.TrimRight(indent+text[start:], invisible))
}

package classic

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Invisible characters that join or separate the characters beside them.
const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// wrap returns a text as rows of at most width columns, broken between words if possible.
// Characters that a terminal acts upon are replaced.
func wrap(text string, width int) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, wrapLine(strings.Map(shown, line), width)...)
	}
	return rows
}

// wrapLine wraps a text without line breaks.
func wrapLine(line string, width int) (rows []string) {
	var row strings.Builder
	column := 0 // width of row
	// The last place to break the row: its offset, and its column.
	breakAt, breakColumn := 0, 0
	put := func(cell string, columns int) {
		if column+columns > width {
			whole := row.String()
			row.Reset()
			if breakAt > 0 {
				rows = append(rows, strings.TrimRight(whole[:breakAt], " "))
				row.WriteString(whole[breakAt:])
				column -= breakColumn
			} else {
				rows = append(rows, whole)
				column = 0
			}
			breakAt = 0
		}
		if r, _ := utf8.DecodeRuneInString(cell); row.Len() == 0 && joins(r) {
			// At the beginning of a row it would join the frame.
			cell = "◌" + cell
			columns = columnsOf(cell)
		}
		row.WriteString(cell)
		column += columns
	}
	cells := displaywidth.StringGraphemes(line)
	for cells.Next() {
		switch cell := cells.Value(); {
		case cell == "\t":
			for range tabStop - column%tabStop {
				put(" ", 1)
			}
		case cell == " " && column >= width: // between two rows
			breakAt, breakColumn = row.Len(), column
		case cell == " ":
			put(cell, 1)
			if strings.Trim(row.String()[breakAt:], " ") != "" { // not within the indentation
				breakAt, breakColumn = row.Len(), column
			}
		default:
			put(cell, columnsOf(cell))
		}
	}
	return append(rows, strings.TrimRight(row.String(), " "))
}

// columnsOf returns how many columns s takes on a terminal. The halfwidth katakana
// sound marks take a column each, although UAX #29 puts them into the grapheme
// cluster of the character before them.
func columnsOf(s string) int {
	return displaywidth.String(strings.Map(func(r rune) rune {
		if r == '\uff9e' || r == '\uff9f' {
			return '\uff8a' // of the same width, and a cluster of its own
		}
		return r
	}, s))
}

// joins reports whether r would join the frame at the beginning of a row.
func joins(r rune) bool {
	return unicode.IsMark(r) || r == zwnj || r == zwj || r >= 0x1F3FB && r <= 0x1F3FF // emoji modifiers
}

// shown returns r, or its replacement: a picture of a control character, and U+FFFD for
// characters that change how others are shown.
func shown(r rune) rune {
	switch {
	case r == '\t', unicode.IsGraphic(r):
		return r
	case r == zwnj, r == zwj: // parts of words and of emoji
		return r
	case r < ' ':
		return '\u2400' + r
	case r == 0x7f:
		return '\u2421'
	default:
		return utf8.RuneError
	}
}

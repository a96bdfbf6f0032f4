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

// Truncate truncates s to a width, with an ellipsis at the end if that fits.
func Truncate(s string, width int, ellipsis string) string {
	if Width(s) <= width {
		return s
	}
	if width < Width(ellipsis) {
		ellipsis = ""
	}
	if width < 0 {
		return ""
	}
	end, used := 0, Width(ellipsis)
	g := displaywidth.StringGraphemes(s)
	for g.Next() {
		used += Width(g.Value())
		if used > width {
			break
		}
		end += len(g.Value())
	}
	return s[:end] + ellipsis
}

// One returns text as one line, as [printable.Line] does, in the characters of a charset.
func One(text string, c Charset) string {
	return strings.Join(strings.Fields(strings.Join(Lines(text, c), " ")), " ")
}

// Lines returns the lines of a text, as [printable.Text] shows it, in the characters of a
// charset. Tabs become spaces.
func Lines(text string, c Charset) []string {
	text = strings.ReplaceAll(printable.Text(text), "\t", strings.Repeat(" ", tab))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(inCharset(line, c), " ")
	}
	return lines
}

// inCharset replaces the characters that a terminal without Unicode cannot show.
func inCharset(line string, c Charset) string {
	if c != ASCIIOnly {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r == 0xA0:
			b.WriteByte(' ')
		case r >= 0x2400 && r < 0x2420: // pictures of control characters
			b.WriteString("^" + string(r-0x2400+0x40))
		case r == 0x2421:
			b.WriteString("^?")
		case r == '⟨':
			b.WriteByte('<')
		case r == '⟩':
			b.WriteByte('>')
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// Wrap returns a text, as [printable.Text] shows it, in rows of at most width columns, broken between words
// if possible. No row begins with a character that would join what stands before it.
func Wrap(text string, width int) (rows []string) {
	for _, line := range Lines(text, Unicode) {
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

// segments yields words and the spaces between them. In scripts without spaces a row may
// end after any character, but not before a closing mark.
func segments(line string) func(yield func(string) bool) {
	const closing = "、。，．：；！？」』）】》〉…ー"
	return func(yield func(string) bool) {
		begin, pos, last := 0, 0, none
		g := displaywidth.StringGraphemes(line)
		for g.Next() {
			v, kind := g.Value(), word
			switch {
			case v == " ":
				kind = space
			case strings.Contains(closing, v):
				kind = max(last, word)
			case g.Width() > 1:
				kind = wide
			}
			if pos > begin && (kind != last || kind == wide && !strings.Contains(closing, v)) {
				if !yield(line[begin:pos]) {
					return
				}
				begin = pos
			}
			pos += len(v)
			last = kind
		}
		if pos > begin {
			yield(line[begin:pos])
		}
	}
}

// The kinds of characters for segments.
const (
	none = iota
	space
	word
	wide
)

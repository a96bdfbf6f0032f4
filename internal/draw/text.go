package draw

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
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

// One returns text as one line without characters that a terminal acts upon.
func One(text string, c Charset) string {
	return strings.Join(strings.Fields(strings.Join(Lines(text, c), " ")), " ")
}

// Lines returns the lines of a text without characters that a terminal acts upon: tabs
// become spaces, control characters become pictures (␛) or caret notation (^[), and
// characters that change the direction of text are replaced.
func Lines(text string, c Charset) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n",
		"\t", strings.Repeat(" ", tab)).Replace(strings.ToValidUTF8(text, "\uFFFD"))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(clean(line, c), " ")
	}
	return lines
}

// clean replaces the characters that a terminal acts upon.
func clean(line string, c Charset) string {
	harmless := func(r rune) bool {
		return r >= ' ' && r <= '~' || r > 0xA0 && c != ASCIIOnly && !acts(r)
	}
	if strings.IndexFunc(line, func(r rune) bool { return !harmless(r) }) < 0 {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		switch {
		case harmless(r):
			b.WriteRune(r)
		case r == 0xA0:
			b.WriteByte(' ')
		case r < ' ' && c == Unicode:
			b.WriteRune(0x2400 + r) // ␀ …
		case r == 0x7F && c == Unicode:
			b.WriteRune(0x2421) // ␡
		case r < ' ' || r == 0x7F:
			b.WriteByte('^')
			b.WriteByte(byte(r ^ 0x40))
		case c == Unicode:
			b.WriteRune(utf8.RuneError)
		case acts(r):
			fmt.Fprintf(&b, "<%U>", r)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// acts reports whether a terminal acts upon r: a control character, or one that embeds or
// overrides a direction.
func acts(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// wrap breaks one line into rows of at most width columns. The first row has lost columns
// less. Later rows keep the line's indentation.
func wrap(line string, lost, width int) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(indent) > width/3 {
		indent = indent[:width/3]
	}
	w := wrapper{width: width, indent: indent}
	w.row.WriteString(indent)
	w.used, w.start = lost+len(indent), lost+len(indent)
	for seg := range segments(strings.TrimLeft(line, " ")) {
		w.add(seg)
	}
	return append(w.rows, strings.TrimRight(w.row.String(), " "))
}

// A wrapper fills rows.
type wrapper struct {
	width  int
	indent string
	rows   []string
	row    strings.Builder
	used   int // columns of row, with those that the first row has lost
	start  int // value of used for an empty row
	gap    string
}

func (w *wrapper) add(seg string) {
	if strings.Trim(seg, " ") == "" {
		w.gap = seg
		return
	}
	if n := Width(seg); w.used > w.start && w.used+len(w.gap)+n > w.width {
		w.feed()
	} else {
		w.row.WriteString(w.gap)
		w.used += len(w.gap)
	}
	w.gap = ""
	if n := Width(seg); w.used+n <= w.width {
		w.row.WriteString(seg)
		w.used += n
		return
	}
	g := displaywidth.StringGraphemes(seg) // a word longer than a row
	for g.Next() {
		n := Width(g.Value())
		if w.used+n > w.width && w.used > w.start {
			w.feed()
		}
		w.row.WriteString(g.Value())
		w.used += n
	}
}

func (w *wrapper) feed() {
	w.rows = append(w.rows, strings.TrimRight(w.row.String(), " "))
	w.row.Reset()
	w.row.WriteString(w.indent)
	w.used, w.start = len(w.indent), len(w.indent)
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

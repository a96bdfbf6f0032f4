// Package block puts texts that somebody else has written into sections of a
// note, so that they stay there: what a text leaves open, a code fence for
// instance, does not swallow what follows.
package block

import (
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// How blocks begin, for those who read them back.
const (
	AsWritten   = "> [!quote] As written" // a text that would not stay in its section
	NoteInside  = "> [!note] Thoughts"    // remarks that are not one plain line
	ThoughtsAre = "*Thoughts: "           // remarks that are
)

// Text returns a text as it stands in a section: as it is, in a callout if it
// would not stay inside.
func Text(text string) string {
	text = Printable(text)
	if staysInside(text) {
		return text
	}
	return Callout(text)
}

// Callout returns a printable text in a callout, which holds everything.
func Callout(text string) string { return AsWritten + "\n" + quote(text) }

// Remarks returns what somebody remarks beside a text, as it stands below it.
func Remarks(text string) string {
	text = Printable(text)
	if strings.TrimSpace(text) == text && !strings.ContainsAny(text, "*\n\\`<$%") {
		return ThoughtsAre + text + "*"
	}
	return NoteInside + "\n" + quote(text)
}

func quote(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if lines[i] = ">"; line != "" {
			lines[i] = "> " + line
		}
	}
	return strings.Join(lines, "\n")
}

// Plain returns the text that Text has written, from its lines.
func Plain(lines []string) string {
	if len(lines) > 0 && strings.TrimSpace(lines[0]) == AsWritten {
		if inner, n := Unquote(lines[1:]); n == len(lines)-1 {
			return inner
		}
	}
	return strings.Join(lines, "\n")
}

// Unquote returns the text in those of the lines, from the first, that are a
// quote, and how many those are.
func Unquote(lines []string) (string, int) {
	var inner []string
	for _, line := range lines {
		text, ok := strings.CutPrefix(line, ">")
		if !ok {
			break
		}
		inner = append(inner, strings.TrimPrefix(text, " "))
	}
	return strings.Join(inner, "\n"), len(inner)
}

// Printable returns text with line breaks of one kind, and with control
// characters replaced by their pictures, so that editors take the file for text.
func Printable(text string) string {
	if strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return '\u2400' + r
		case r == 0x7f:
			return '\u2421'
		case r >= 0x80 && r < 0xa0, r == '\uFEFF':
			return utf8.RuneError
		default:
			return r
		}
	}, text)
}

// unprintable reports whether Printable replaces a character.
func unprintable(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\uFEFF' || r == utf8.RuneError
}

var (
	// fenceLine matches a line that opens or closes a code fence, maybe in a list
	// or a quote.
	fenceLine = lazyregexp.New("^[\\s>*+\\-0-9.)]*(`{3,}|~{3,})")
	// openHTML matches HTML that lasts until its end is found, over empty lines.
	openHTML = lazyregexp.New(`(?i)<!--|<\?|<![a-z]|<!\[CDATA\[|<(script|pre|style|textarea)\b`)
)

// staysInside reports whether a text stands as it is in its section: whether it
// leaves nothing open that would swallow what follows. It is careful: a text that
// it is wrong about is shown in a callout.
func staysInside(text string) bool {
	if strings.TrimSpace(text) != text || strings.Contains(text, "<") && openHTML().MatchString(text) {
		return false
	}
	if strings.Count(text, "%%")%2 != 0 || strings.Count(text, "$$")%2 != 0 {
		return false
	}
	return fencesClosed(text)
}

// fencesClosed reports whether every code fence of a text is closed, as far as
// that can be told without parsing Markdown.
func fencesClosed(text string) bool {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return true
	}
	open, indent := "", 0 // the fence that is open
	for line := range strings.SplitSeq(text, "\n") {
		m := fenceLine().FindStringSubmatch(line)
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case open == "" && m == nil:
		case open == "":
			if rest := line[len(m[0]):]; m[1][0] == '`' && strings.Contains(rest, "`") {
				continue // code in a line
			}
			if open, indent = m[1], spaces; len(m[0]) != spaces+len(open) {
				return false // in a list or a quote, which may end before the fence does
			}
		case m != nil && m[1][0] == open[0] && len(m[1]) >= len(open) && line[spaces:] == m[1]+line[len(m[0]):] &&
			strings.TrimSpace(line[len(m[0]):]) == "" && (spaces == indent || max(spaces, indent) <= 3 && indent == 0):
			open = ""
		case indent > 0 && spaces < indent && strings.TrimSpace(line) != "":
			return false // in a list that ends here, maybe
		}
	}
	return open == ""
}

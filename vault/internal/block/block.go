// Package block writes the texts of authors into sections of a note so that a text does
// not affect what follows it, for instance with an open code fence.
package block

import (
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
)

// The first lines of blocks, for parsers.
const (
	AsWritten   = "> [!quote] As written" // a text that would affect what follows it
	NoteInside  = "> [!note] Thoughts"    // remarks of more than one plain line
	ThoughtsAre = "*Thoughts: "           // remarks of one plain line
)

// Text returns a text for a section: unchanged, or in a callout if it would affect what
// follows it.
func Text(text string) string {
	text = printable.Text(text)
	if staysInside(text) {
		return text
	}
	return Callout(text)
}

// Callout returns a printable text in a callout, which can hold any text.
func Callout(text string) string { return AsWritten + "\n" + quote(text) }

// Remarks returns the author's remarks for the end of a section.
func Remarks(text string) string {
	text = printable.Text(text)
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

// Plain is the inverse of Text, for the lines of a section.
func Plain(lines []string) string {
	if len(lines) > 0 && strings.TrimSpace(lines[0]) == AsWritten {
		if inner, n := Unquote(lines[1:]); n == len(lines)-1 {
			return inner
		}
	}
	return strings.Join(lines, "\n")
}

// Unquote returns the text of the quote at the beginning of lines, and the number of its
// lines.
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

var (
	// fenceLine matches a line that opens or closes a code fence, perhaps in a list or
	// a quote.
	fenceLine = lazyregexp.New("^[\\s>*+\\-0-9.)]*(`{3,}|~{3,})")
	// openHTML matches HTML that continues over empty lines up to its end tag.
	openHTML = lazyregexp.New(`(?i)<!--|<\?|<![a-z]|<!\[CDATA\[|<(script|pre|style|textarea)\b`)
)

// staysInside reports whether a text leaves nothing open that would affect what follows.
// If in doubt it returns false: the text is then shown in a callout.
func staysInside(text string) bool {
	if strings.TrimSpace(text) != text || strings.Contains(text, "<") && openHTML().MatchString(text) {
		return false
	}
	if strings.Count(text, "%%")%2 != 0 || strings.Count(text, "$$")%2 != 0 {
		return false
	}
	return fencesClosed(text)
}

// fencesClosed reports whether every code fence of a text is certainly closed. It does
// not parse Markdown.
func fencesClosed(text string) bool {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return true
	}
	open, indent := "", 0 // of the open fence
	for line := range strings.SplitSeq(text, "\n") {
		m := fenceLine().FindStringSubmatch(line)
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case open == "" && m == nil:
		case open == "":
			if rest := line[len(m[0]):]; m[1][0] == '`' && strings.Contains(rest, "`") {
				continue // inline code
			}
			if open, indent = m[1], spaces; len(m[0]) != spaces+len(open) {
				return false // in a list or a quote, which may end first
			}
		case m != nil && m[1][0] == open[0] && len(m[1]) >= len(open) && line[spaces:] == m[1]+line[len(m[0]):] &&
			strings.TrimSpace(line[len(m[0]):]) == "" && (spaces == indent || max(spaces, indent) <= 3 && indent == 0):
			open = ""
		case indent > 0 && spaces < indent && strings.TrimSpace(line) != "":
			return false // a list may end here
		}
	}
	return open == ""
}

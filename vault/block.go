package vault

import (
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
)

// The first lines of what [Block], [Callout] and [Remarks] write, for parsers.
const (
	AsWritten   = "> [!quote] As written" // a text that would affect what follows it
	NoteInside  = "> [!note] Thoughts"    // remarks of more than one plain line
	ThoughtsAre = "*Thoughts: "           // remarks of one plain line
)

// Block returns an author's text for a section of a note: unchanged, or in a callout if it
// would affect what follows it, for instance with an open code fence.
func Block(text string) string {
	text = printable.Text(text)
	if staysInside(text) {
		return text
	}
	return Callout(text)
}

// Callout returns a text in a callout, which can hold any text.
func Callout(text string) string { return AsWritten + quote(printable.Text(text)) }

// Remarks returns an author's remarks for the end of a section.
func Remarks(text string) string {
	text = printable.Text(text)
	if strings.TrimSpace(text) == text && !strings.ContainsAny(text, "*\n\\`<$%") {
		return ThoughtsAre + text + "*"
	}
	return NoteInside + quote(text)
}

// quote returns the lines of a text as a quote, each after a line break.
func quote(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("\n>")
		if line != "" {
			b.WriteString(" " + line)
		}
	}
	return b.String()
}

// Plain is the inverse of Block.
func Plain(text string) string {
	if inner, ok := Inside(AsWritten, text); ok {
		return inner
	}
	return text
}

// Inside returns the text in a callout with the given first line.
func Inside(first, text string) (string, bool) {
	var inner []string
	for i, line := range strings.Split(text, "\n") {
		if i == 0 && strings.TrimSpace(line) == first {
			continue
		}
		line, ok := strings.CutPrefix(line, ">")
		if !ok || i == 0 {
			return "", false
		}
		inner = append(inner, strings.TrimPrefix(line, " "))
	}
	return strings.Join(inner, "\n"), true
}

// openHTML matches HTML that continues over empty lines up to its end tag.
var openHTML = lazyregexp.New(`(?i)<!--|<\?|<![a-z]|<!\[CDATA\[|<(script|pre|style|textarea)\b`)

// staysInside reports whether a text leaves nothing open that would affect what follows.
// It does not parse Markdown: if in doubt it returns false, and the text is shown in a
// callout.
func staysInside(text string) bool {
	if strings.TrimSpace(text) != text || strings.Contains(text, "<") && openHTML().MatchString(text) {
		return false
	}
	if strings.Count(text, "%%")%2 != 0 || strings.Count(text, "$$")%2 != 0 {
		return false
	}
	open := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case !strings.Contains(line, "```") && !strings.Contains(line, "~~~"):
		case !open && strings.HasPrefix(line, "```") && !strings.Contains(line[3:], "`"):
			open = true
		case open && strings.TrimRight(line, " \t") == "```":
			open = false
		default:
			return false
		}
	}
	return !open
}

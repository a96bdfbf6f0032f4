package archive

import (
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
)

// oneLine returns the beginning of text on one line, truncated to most characters.
func oneLine(text string, most int) string {
	const enough = 4096 // bytes of which more than most are hardly ever white space
	if n := enough; len(text) > n {
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return printable.Short(printable.Line(text), most)
}

// inline matches characters with a meaning within a line of Markdown.
var inline = lazyregexp.New("[\\\\`*_\\[\\]<>&#|~$!@]")

// escaped returns text on one line of Markdown, escaped.
func escaped(text string) string {
	return inline().ReplaceAllString(oneLine(text, 200), `\$0`)
}

// code returns text as a code span.
func code(text string) string {
	if text = oneLine(text, 200); text == "" {
		return ""
	}
	fence := "`" + strings.Repeat("`", longestRun(text, '`'))
	if strings.ContainsAny(text[:1]+text[len(text)-1:], "` ") {
		text = " " + text + " " // Markdown removes one space on each side
	}
	return fence + text + fence
}

func longestRun(text string, of rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// unsafe matches text that affects the rest of a document: HTML, which can include
// what follows it; headings, which appear in the table of contents; and link
// definitions, which apply to the whole document.
var unsafe = lazyregexp.New(`(?m)<[a-zA-Z/!?]` +
	`|^[\s>*+\-0-9.)]*#{1,6}(\s|$)` +
	`|^[\s>*+\-0-9.)]*(=+|-{2,})\s*$` +
	`|^[\s>*+\-0-9.)]*\[(?s:.*)\]:`)

// quoted returns a text as a block quote. Markdown in it is rendered, unless it could
// affect the rest of the document: then the text is a code block.
func quoted(text string) string {
	text = strings.Trim(printable.Text(text), "\n")
	if unsafe().MatchString(text) {
		fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
		text = fence + "text\n" + text + "\n" + fence
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight("> "+line, " "))
		b.WriteByte('\n')
	}
	return b.String()
}

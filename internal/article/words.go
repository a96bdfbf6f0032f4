package article

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/printable"
)

// Lengths of sentences in characters.
const (
	maxTitle    = 160
	maxSentence = 200
	minSentence = 12 // "No. 4" and "e.g. this" are not two sentences
)

// marks removes what Markdown emphasises with. The title, and what stands for a text, is plain.
var marks = strings.NewReplacer("`", "", "**", "", "__", "")

// head returns the first sentence of a text, plain and at most limit characters long, and what follows it. Where the
// sentence is cut, or Markdown goes on after it, that is the whole text.
func head(text string, limit int) (sentence, rest string) {
	text = strings.TrimSpace(text)
	line, after, _ := strings.Cut(text, "\n")
	end := sentenceEnd(line)
	sentence, rest = strings.TrimRight(line[:end], " \t\r"), strings.TrimSpace(line[end:]+"\n"+after)
	if bare := strings.TrimLeft(sentence, "#"); bare != sentence && strings.HasPrefix(bare, " ") {
		sentence = bare
	}
	clean := printable.Line(marks.Replace(sentence))
	whole := strings.Count(sentence, "`")%2 == 0 && strings.Count(sentence, "**")%2 == 0 && !strings.ContainsAny(sentence[:min(len(sentence), 1)], "|>-+~`") &&
		strings.Count(sentence, "[") == strings.Count(sentence, "](") && utf8.RuneCountInString(clean) <= limit
	if !whole {
		rest = text
	}
	return printable.Short(clean, limit), rest
}

// sentenceEnd returns the index after the first sentence of a line.
func sentenceEnd(line string) int {
	n := 0
	for i, r := range line {
		if n++; n < minSentence || !strings.ContainsRune(".!?…。！？", r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		next, _ := utf8.DecodeRuneInString(line[end:])
		if end == len(line) || unicode.IsSpace(next) || strings.ContainsRune("。！？", r) {
			return end
		}
	}
	return len(line)
}

// lastSentence returns the last sentence of a text, plain and on one line.
func lastSentence(text string) string {
	text = strings.TrimSpace(text)
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	for {
		end := sentenceEnd(line)
		rest := strings.TrimSpace(line[end:])
		if rest == "" {
			return printable.Short(printable.Line(marks.Replace(line)), maxSentence)
		}
		line = rest
	}
}

// conclusion returns a text without the word that the page has above it.
func conclusion(text string) string {
	text = strings.TrimSpace(text)
	for _, word := range []string{"Conclusion:", "**Conclusion:**", "**Conclusion**:"} {
		if len(text) > len(word) && strings.EqualFold(text[:len(word)], word) {
			text = strings.TrimSpace(text[len(word):])
			r, n := utf8.DecodeRuneInString(text)
			return string(unicode.ToUpper(r)) + text[n:]
		}
	}
	return text
}

// firstParagraph returns what comes before the first blank line.
func firstParagraph(text string) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(printable.Text(text)), "\n\n")
	return paragraph
}

// line returns text on one line as HTML.
func line(text string) string { return html.EscapeString(printable.Line(text)) }

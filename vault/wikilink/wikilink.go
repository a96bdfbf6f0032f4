// Package wikilink parses [[WikiLinks]].
//
// All links are parsed by one extension of goldmark: for the check of a client's text
// and for the graph of a vault. Links in code, HTML and escaped brackets are ignored.
//
//	[[target]]            a link to the note or concept "target"
//	[[target|alias]]      the same, shown as "alias"; in a table write \| for |
//	[[target#heading]]    to a heading; [[target#^block]] to a block
//	[[#heading]]          to a heading of the same note; it names no concept
//	![[target]]           embeds the target's content
//
// A link has exactly two brackets on each side and is on one line. It contains no
// brackets and no backquotes.
package wikilink

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A Link is a WikiLink in a text.
type Link struct {
	Target   string // the part before # and |, without surrounding space; empty for a link within the note
	Fragment string // the part after the first #: a heading, or ^ and the id of a block
	Alias    string // the part after the first |; shown instead of the target
	Embed    bool   // there is a ! before it

	// Start and Stop are byte offsets in the text: of the ! or the first bracket, and
	// after the last bracket.
	Start, Stop int
}

// Concept returns the concept that the link names: its normalized target. It is empty
// for a link within the note.
func (l Link) Concept() string { return Normalize(l.Target) }

// Concepts returns the concepts that links name, without repetitions, in the order of
// their first mention.
func Concepts(links []Link) []string {
	var out []string
	seen := make(map[string]bool, len(links))
	for _, l := range links {
		if c := l.Concept(); c != "" && !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	return out
}

// HasConcept reports whether a Markdown text has a link that names a concept.
func HasConcept(markdown []byte) bool {
	return slices.ContainsFunc(Parse(markdown), func(l Link) bool { return l.Concept() != "" })
}

// Normalize returns the common name for all spellings of a concept: in lower case and in
// NFC, with one hyphen for each run of white space, hyphens, underscores and slashes, and
// none at the ends. It is idempotent.
//
// "Rate Limiting", "rate_limiting" and "rate-limiting" are one concept.
func Normalize(text string) string {
	text = norm.NFC.String(strings.ToValidUTF8(text, "\uFFFD"))
	text = norm.NFC.String(strings.ToLower(text)) // lower case may compose again
	var b strings.Builder
	b.Grow(len(text))
	gap := false
	for _, r := range text {
		if r == '-' || r == '_' || r == '/' || unicode.IsSpace(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// InText returns the links of a text that is not Markdown, such as front matter, in
// order.
func InText(text string) []Link {
	var out []Link
	for i := 0; i < len(text); {
		next := strings.IndexByte(text[i:], '[')
		if next < 0 {
			break
		}
		i += next
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "["))
		l, size, ok := Link{}, 0, false
		if run == 2 {
			l, size, ok = match(text[i:])
		}
		if !ok {
			i += run
			continue
		}
		l.Start, l.Stop = i, i+size
		if l.Embed = i > 0 && text[i-1] == '!'; l.Embed {
			l.Start--
		}
		out = append(out, l)
		i += size
	}
	return out
}

// match parses the link at the beginning of s, which begins with two brackets, and
// returns its size in bytes. It reads no further than the link's end.
func match[T string | []byte](s T) (l Link, size int, ok bool) {
	end := 2
	for end < len(s) && !strings.ContainsRune("[]`\n\r", rune(s[end])) {
		end++
	}
	inside := string(s[2:end])
	// A backslash escapes the first closing bracket.
	if runOf(s[end:], ']') != 2 || strings.HasSuffix(inside, `\`) {
		return l, 0, false
	}
	l, ok = parts(inside)
	return l, end + 2, ok
}

// parts divides the text between the brackets.
func parts(inside string) (l Link, ok bool) {
	place, alias, _ := strings.Cut(inside, "|")
	place = strings.TrimSuffix(place, `\`) // tables need the backslash
	l.Alias = strings.TrimSpace(strings.ReplaceAll(alias, `\|`, "|"))
	l.Target, l.Fragment, _ = strings.Cut(place, "#")
	l.Target = strings.TrimSpace(l.Target)
	l.Fragment = strings.TrimSpace(l.Fragment)
	if l.Target == "" {
		return l, l.Fragment != ""
	}
	return l, l.Concept() != ""
}

// runOf returns how many bytes c the text begins with, at most 3.
func runOf[T string | []byte](s T, c byte) int {
	n := 0
	for n < min(len(s), 3) && s[n] == c {
		n++
	}
	return n
}

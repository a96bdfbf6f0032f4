// Package wikilink reads [[WikiLinks]].
//
// There is one parser, an extension of goldmark, and everything that asks
// about links goes through it: what a client must write, the graph of a
// vault, and pages. A link is what Markdown leaves to be one: code, HTML and
// escaped brackets hold none.
//
//	[[target]]            a link to the note or concept "target"
//	[[target|shown]]      the same, shown as "shown"; in a table \| stands for |
//	[[target#heading]]    to a heading, [[target#^block]] to a block
//	[[#heading]]          to a heading of the same note; it names no concept
//	![[target]]           the target's content in this place
//
// A link has exactly two brackets on each side and lies on one line. It holds
// no brackets and no backquotes.
package wikilink

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A Link is one WikiLink of a text.
type Link struct {
	Target   string // what stands before # and |, without surrounding space; empty for a place in the same note
	Fragment string // what follows the first #: a heading, or ^ and the name of a block
	Alias    string // what follows the first |; shown instead of the target
	Embed    bool   // a ! stands before it

	// Start and Stop are the bytes of the text that the link covers, from the
	// ! or the first bracket to after the last.
	Start, Stop int
}

// Concept returns the concept that the link names: its target as [Normalize]
// writes it. It is empty for a link to a place in the same note.
func (l Link) Concept() string { return Normalize(l.Target) }

// Concepts returns the concepts that links name, each once, in the order of
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

// HasConcept reports whether a Markdown text holds a link that names a
// concept.
func HasConcept(markdown []byte) bool {
	return slices.ContainsFunc(Parse(markdown), func(l Link) bool { return l.Concept() != "" })
}

// Normalize returns the name under which all spellings of a concept meet:
// lower case, in Unicode's composed form, with one hyphen for every run of
// white space, hyphens, underscores and slashes, and none at either end.
//
// "Rate Limiting", "rate_limiting" and "rate-limiting" are one concept.
// Normalizing a second time changes nothing. The name of a text without
// anything else is empty.
func Normalize(text string) string {
	text = norm.NFC.String(strings.ToValidUTF8(text, "\uFFFD"))
	text = norm.NFC.String(strings.ToLower(text)) // what is lower case may compose anew
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

// InText returns the links of a text that is no Markdown, such as a value of
// a note's front matter, in order.
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

// match reads the link at the beginning of s, which begins with two brackets,
// and returns how many bytes it has. It looks no further than to the link's end.
func match[T string | []byte](s T) (l Link, size int, ok bool) {
	end := 2
	for end < len(s) && !strings.ContainsRune("[]`\n\r", rune(s[end])) {
		end++
	}
	inside := string(s[2:end])
	// A backslash before the end takes a bracket away from it.
	if runOf(s[end:], ']') != 2 || strings.HasSuffix(inside, `\`) {
		return l, 0, false
	}
	l, ok = parts(inside)
	return l, end + 2, ok
}

// parts cuts what stands between the brackets.
func parts(inside string) (l Link, ok bool) {
	place, alias, _ := strings.Cut(inside, "|")
	place = strings.TrimSuffix(place, `\`) // as tables need it
	l.Alias = strings.TrimSpace(strings.ReplaceAll(alias, `\|`, "|"))
	l.Target, l.Fragment, _ = strings.Cut(place, "#")
	l.Target = strings.TrimSpace(l.Target)
	l.Fragment = strings.TrimSpace(l.Fragment)
	if l.Target == "" {
		return l, l.Fragment != ""
	}
	return l, l.Concept() != ""
}

// runOf returns how many bytes c the text begins with, or 3 if there are more.
func runOf[T string | []byte](s T, c byte) int {
	n := 0
	for n < min(len(s), 3) && s[n] == c {
		n++
	}
	return n
}

// Package wikilink parses [[WikiLinks]].
//
// One scanner finds all links, for the check of a client's text and for the graph of a
// vault. Links in code and in escaped brackets are ignored. It takes linear time for every
// text.
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
	"iter"
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
	for l := range All(string(markdown)) {
		if l.Concept() != "" {
			return true
		}
	}
	return false
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

// Parse returns the links of a Markdown text without front matter, in order.
func Parse(markdown []byte) []Link { return slices.Collect(All(string(markdown))) }

// All yields what [Parse] returns. The text behind the last link that is asked for is not read.
func All(markdown string) iter.Seq[Link] {
	return func(yield func(Link) bool) {
		var b block
		begin, at := 0, 0 // of a paragraph, in which code can extend over lines, and of the line
		for line := range strings.Lines(markdown) {
			code, first := b.next(line)
			if code || first {
				if !each(markdown[begin:at], begin, yield) {
					return
				}
				begin = at
			}
			if at += len(line); code {
				begin = at
			}
		}
		each(markdown[begin:], begin, yield)
	}
}

// InText returns the links of a text that is not Markdown, such as front matter, in
// order.
func InText(text string) (found []Link) {
	each(text, 0, func(l Link) bool { found = append(found, l); return true })
	return found
}

// each yields the links of a paragraph that begins at an offset. It returns false once yield does.
func each(text string, offset int, yield func(Link) bool) bool {
	if !strings.Contains(text, "[[") {
		return true
	}
	var last map[int]int // run of backquotes → where the last one of that length is
	for at := 0; at < len(text); {
		switch text[at] {
		case '\\':
			at += 2
		case '`':
			if last == nil {
				last = lastRuns(text)
			}
			at += codeSpan(text[at:], last[runOf(text[at:], '`')] > at)
		case '[':
			run := runOf(text[at:], '[')
			l, size, ok := Link{}, 0, false
			if run == 2 {
				l, size, ok = match(text[at:])
			}
			if !ok {
				at += run
				continue
			}
			l.Start, l.Stop = offset+at, offset+at+size
			if l.Embed = at > 0 && text[at-1] == '!' && !escaped(text, at-1); l.Embed {
				l.Start--
			}
			if !yield(l) {
				return false
			}
			at += size
		default:
			at++
		}
	}
	return true
}

// lastRuns returns where the last run of each length of backquotes is. Without it, runs
// that are never closed would take quadratic time.
func lastRuns(text string) map[int]int {
	last := make(map[int]int)
	for at := 0; at < len(text); {
		n := runOf(text[at:], '`')
		if n > 0 {
			last[n] = at
		}
		at += max(n, 1)
	}
	return last
}

// codeSpan returns the length of the code at the beginning of a text, or of the backquotes
// there if they are not closed.
func codeSpan(text string, closed bool) int {
	n := runOf(text, '`')
	for at := n; closed; {
		m := runOf(text[at:], '`')
		if at += max(m, 1); m == n {
			return at
		}
	}
	return n
}

// escaped reports whether there is an odd number of backslashes before a place.
func escaped(text string, at int) bool {
	return (at-len(strings.TrimRight(text[:at], `\`)))%2 == 1
}

// match parses the link at the beginning of a text, which begins with two brackets, and
// returns its size in bytes. It reads no further than the link's end.
func match(text string) (l Link, size int, ok bool) {
	end := 2 + strings.IndexAny(text[2:], "[]`\n\r")
	// A backslash escapes the first closing bracket.
	if end < 2 || runOf(text[end:], ']') != 2 || text[end-1] == '\\' {
		return l, 0, false
	}
	place, alias, _ := strings.Cut(text[2:end], "|")
	place = strings.TrimSuffix(place, `\`) // tables need the backslash
	l.Alias = strings.TrimSpace(strings.ReplaceAll(alias, `\|`, "|"))
	l.Target, l.Fragment, _ = strings.Cut(place, "#")
	l.Target, l.Fragment = strings.TrimSpace(l.Target), strings.TrimSpace(l.Fragment)
	if l.Target == "" {
		return l, end + 2, l.Fragment != ""
	}
	return l, end + 2, l.Concept() != ""
}

// runOf returns how many bytes c a text begins with.
func runOf(text string, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

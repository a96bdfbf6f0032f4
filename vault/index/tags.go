package index

import (
	"strings"
	"unicode"
)

// inlineTags returns the tags in a note's body as they are written, without #. As in
// Obsidian, a tag begins at the beginning of a line or after white space, consists of
// letters, digits, _, - and /, and is not a number. Those in code are none.
func inlineTags(body string) []string {
	var tags []string
	fence := ""
	for line := range strings.Lines(body) {
		text := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) {
				fence = ""
			}
		case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
			fence = text[:3]
		case strings.Contains(text, "#"):
			for word := range strings.FieldsSeq(withoutCode(text)) {
				if tag := tagAt(word); tag != "" {
					tags = append(tags, tag)
				}
			}
		}
	}
	return tags
}

// withoutCode returns a line without its code spans.
func withoutCode(line string) string {
	if !strings.Contains(line, "`") {
		return line
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(line, "`")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		ticks := "`"
		for strings.HasPrefix(rest, "`") {
			ticks, rest = ticks+"`", rest[1:]
		}
		_, after, ok := strings.Cut(rest, ticks)
		if !ok {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteByte('x') // what follows is not at the beginning of a word
		line = after
	}
}

// tagAt returns the tag that a word begins with, or nothing.
func tagAt(word string) string {
	rest, ok := strings.CutPrefix(word, "#")
	if !ok {
		return ""
	}
	letter := false
	end := strings.IndexFunc(rest, func(r rune) bool {
		isLetter := unicode.In(r, unicode.L, unicode.M, unicode.So) || r == '_' || r == '-' || r == '/'
		letter = letter || isLetter
		return !isLetter && !unicode.IsDigit(r)
	})
	if end < 0 {
		end = len(rest)
	}
	if !letter || strings.HasPrefix(rest[end:], "#") {
		return ""
	}
	return strings.TrimRight(rest[:end], "/-")
}

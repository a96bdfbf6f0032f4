package textsearch

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Excerpt returns a piece of text with at most maxRunes characters around the first
// occurrence of a wanted term of q, and the occurrences of terms in the piece. The
// piece is one line that is safe to print on a terminal: white space is replaced by
// single spaces, and control characters are removed. An ellipsis marks where text is
// missing.
func Excerpt(text string, q Query, maxRunes int) (piece string, at []Range) {
	text = norm.NFC.String(oneLine(text))
	at = q.ranges(text)
	if utf8.RuneCountInString(text) <= maxRunes {
		return text, at
	}
	if maxRunes < 3 { // no room for text
		return strings.Repeat("…", max(min(maxRunes, 1), 0)), nil
	}
	room := maxRunes - 2 // for the ellipses
	start := 0
	if len(at) > 0 {
		lead := min(room/4, max(room-utf8.RuneCountInString(text[at[0].Start:at[0].End]), 0))
		start = back(text, at[0].Start, lead)
	}
	end := forth(text, start, room)
	if end == len(text) { // fill the room with text before the match
		start = back(text, end, room+1)
	}
	before, after := "", ""
	if start > 0 {
		before = "…"
		n := strings.IndexByte(text[start:forth(text, start, edge)], ' ')
		if n >= 0 && text[start-1] != ' ' && (len(at) == 0 || start+n < at[0].Start) {
			start += n + 1
		}
	}
	if end < len(text) {
		after = "…"
		from := max(back(text, end, edge), start)
		if n := strings.LastIndexByte(text[from:end], ' '); n > 0 && text[end] != ' ' {
			end = from + n
		}
	}
	shift := len(before) - start
	at = slices.DeleteFunc(at, func(r Range) bool { return r.Start < start || r.Start >= end })
	for i := range at {
		at[i] = Range{at[i].Start + shift, min(at[i].End, end) + shift}
	}
	return before + text[start:end] + after, at
}

// oneLine returns s with single spaces for white space and without characters that
// cannot be printed.
func oneLine(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			gap = b.Len() > 0
			continue
		case r == utf8.RuneError || !unicode.IsGraphic(r) && !unicode.Is(unicode.M, r):
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// back returns the position n characters before i.
func back(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// forth returns the position n characters after i.
func forth(s string, i, n int) int {
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// edge is how many characters an excerpt may be shorter at each end to have whole words.
const edge = 24

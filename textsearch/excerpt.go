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
		before, start = "…", wordAfter(text, start, at)
	}
	if end < len(text) {
		after, end = "…", wordBefore(text, start, end)
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

// edge is how many characters an excerpt may be shorter to end between two words.
const edge = 24

// wordAfter returns the beginning of the first word after i, or i if that word is
// far or after the first match.
func wordAfter(s string, i int, at []Range) int {
	limit := forth(s, i, edge)
	if len(at) > 0 && at[0].Start >= i {
		limit = min(limit, at[0].Start)
	}
	if s[i-1] == ' ' {
		return i
	}
	if n := strings.IndexByte(s[i:limit], ' '); n >= 0 {
		return i + n + 1
	}
	return i
}

// wordBefore returns the end of the last word before i, or i if that word is far.
func wordBefore(s string, start, i int) int {
	limit := max(back(s, i, edge), start)
	if s[i] == ' ' {
		return i
	}
	if n := strings.LastIndexByte(s[limit:i], ' '); n > 0 {
		return limit + n
	}
	return i
}

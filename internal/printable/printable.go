// Package printable makes text of unknown origin safe to print. Characters that cannot be seen,
// or that a terminal, a browser or an editor acts upon, become visible.
package printable

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text with \n as the only line break and characters that are hidden in a form that
// can be read: control characters as their pictures (␛), others as their code points (⟨U+202E⟩),
// and bytes that are not UTF-8 as U+FFFD. Tabs stay. So do joiners and variation selectors where
// writing needs them: in emoji, in the scripts that join letters, and after Han characters.
func Text(text string) string {
	if !strings.ContainsFunc(text, replaced) {
		return text
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	var b strings.Builder
	before := rune(-1)
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t' || !Hidden(r):
			b.WriteRune(r) // U+FFFD for what is not UTF-8
		case written(before, r, text[i+utf8.RuneLen(r):]):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		default:
			fmt.Fprintf(&b, "⟨%U⟩", r)
		}
		before = r
	}
	return b.String()
}

// Line returns text as one line of Text, with one space for white space.
func Line(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }

// JSON returns JSON in which hidden characters and line separators are escaped. In JSON they
// occur in strings only.
func JSON(text []byte) []byte {
	escaped := func(r rune) bool { return r >= 0x7f && (Hidden(r) || r == '\u2028' || r == '\u2029') }
	if !bytes.ContainsFunc(text, escaped) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case !escaped(r):
			out = append(out, rest[:n]...)
		case r > 0xffff:
			r -= 0x10000 // a surrogate pair
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[n:]
	}
	return out
}

// Hidden reports whether a character cannot be seen by itself: controls, marks of direction,
// characters of no width, tags, variation selectors and fillers.
func Hidden(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// replaced reports whether Text may replace a character.
func replaced(r rune) bool {
	return Hidden(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// The characters that are hidden and needed in some places.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// joining has the scripts in which joiners change how letters are written.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Bengali, unicode.Devanagari, unicode.Gujarati, unicode.Gurmukhi, unicode.Kannada, unicode.Khmer,
	unicode.Malayalam, unicode.Mongolian, unicode.Myanmar, unicode.Oriya, unicode.Sinhala, unicode.Syriac, unicode.Tamil, unicode.Telugu,
}

// written reports whether writing needs a hidden character between the one before it and the
// rest of a text. Two hidden characters in a row are never needed, except in emoji: so a text
// cannot be hidden in them.
func written(before, r rune, rest string) bool {
	after, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\ufe0f' || r == '\ufe0e': // how a character is shown, as an emoji or as text
		return emoji(before) || before < 0x7f && strings.ContainsRune("#*0123456789", before)
	case unicode.Is(unicode.Variation_Selector, r):
		return unicode.Is(unicode.Han, before)
	case r == joiner && (emoji(before) || before == '\ufe0f'):
		return emoji(after)
	case r == joiner || r == nonJoiner:
		return unicode.In(before, joining...) && (unicode.In(after, joining...) || r == joiner && !Hidden(after))
	}
	return false
}

// emoji reports whether a character can be a part of an emoji.
func emoji(r rune) bool {
	return r == '©' || r == '®' || r >= 0x2030 && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk, unicode.Po)
}

// Short returns text, cut to at most n characters with an ellipsis.
func Short(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return strings.TrimRight(string(r[:n-1]), " ") + "…"
	}
	return text
}

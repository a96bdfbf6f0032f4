// Package printable makes text of unknown origin safe to write into documents.
package printable

import (
	"strings"
	"unicode/utf8"
)

// Text returns text with \n as the only line break. Control characters except tabs
// become their pictures (␛), or U+FFFD if they have none, and so do byte order marks,
// so that terminals do not act upon them and editors recognise a text file.
func Text(text string) string {
	if strings.IndexFunc(text, replaced) < 0 {
		return text
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return '\u2400' + r
		case r == 0x7f:
			return '\u2421'
		case r >= 0x80 && r < 0xa0, r == '\uFEFF':
			return utf8.RuneError
		default:
			return r
		}
	}, text)
}

// replaced reports whether Text replaces a character.
func replaced(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\uFEFF' || r == utf8.RuneError
}

// Short returns text, cut to at most n characters with an ellipsis.
func Short(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return strings.TrimRight(string(r[:n-1]), " ") + "…"
	}
	return text
}

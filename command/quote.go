package command

import (
	"runtime"
	"strings"
)

// quoted quotes a word for the shell in which a person pastes it. Words come from file names
// and models, so nothing in them may be expanded.
func quoted(word string) string {
	if runtime.GOOS == "windows" {
		return quotedForWindows(word)
	}
	if isPlain(word, "-_./:@,+=") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quotedForWindows quotes a word for PowerShell and, where its quotes suffice, for cmd: double
// quotes mean the same in both, unless they contain what one of them expands.
func quotedForWindows(word string) string {
	switch {
	case isPlain(word, `-_./\:+=`):
		return word
	case strings.ContainsAny(word, "\"$`%!\u201c\u201d\u201e"):
		// PowerShell ends such a string at typographic quotes, too.
		for _, quote := range []string{"'", "\u2018", "\u2019", "\u201a", "\u201b"} {
			word = strings.ReplaceAll(word, quote, quote+quote)
		}
		return "'" + word + "'"
	}
	end := len(word) - len(strings.TrimRight(word, `\`))
	return `"` + word + strings.Repeat(`\`, end) + `"` // a single one would escape the quote
}

// isPlain reports whether a word consists of letters, digits and some signs, so that it needs
// no quotes. Within a word # begins no comment.
func isPlain(word, signs string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(signs, r)
	}
	return word != "" && plain(rune(word[0])) && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) && r != '#' })
}

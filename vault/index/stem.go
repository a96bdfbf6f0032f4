package index

import (
	"strings"

	"github.com/sequent-dev/sequent/words"
)

// stem returns the common form of an English word's plural, past tense and -ing
// form, such as "cach" for cache, caches, cached and caching. It reports false
// for tokens without a stem: function words, numbers, other languages.
//
// It covers the first steps of Porter's algorithm. The later ones, which join
// words such as general and generic, would make queries less precise.
func stem(token string) (string, bool) {
	if len(token) < 2 || strings.ContainsFunc(token, func(r rune) bool { return r < 'a' || r > 'z' }) || words.IsFunctionWord(token) {
		return "", false
	}
	s := token
	cut := func(ending string) bool {
		rest, ok := strings.CutSuffix(s, ending)
		if ok = ok && len(rest) >= 2 && strings.ContainsAny(rest, "aeiouy"); ok {
			s = rest
		}
		return ok
	}
	switch {
	case strings.HasSuffix(s, "ss"), strings.HasSuffix(s, "us"):
	case strings.HasSuffix(s, "ies"):
		s = s[:len(s)-2]
	default:
		cut("s")
	}
	if !strings.HasSuffix(s, "eed") && (cut("ed") || cut("ing")) {
		if n := len(s); n > 3 && s[n-1] == s[n-2] && !strings.Contains("aeiouls", s[n-1:]) {
			s = s[:n-1] // planned, running
		}
	}
	cut("e")
	if n := len(s); n > 2 && s[n-1] == 'y' && !strings.Contains("aeiou", s[n-2:n-1]) {
		s = s[:n-1] + "i"
	}
	return s, true
}

// saysLittle reports whether tokens are a function word, or Hiragana alone: the
// script of Japanese particles and word endings.
func saysLittle(tokens []string) bool {
	if len(tokens) == 1 && words.IsFunctionWord(tokens[0]) {
		return true
	}
	for _, token := range tokens {
		if r := []rune(token); !words.Unspaced(token) || r[0] < 0x3041 || r[0] > 0x309F {
			return false
		}
	}
	return true
}

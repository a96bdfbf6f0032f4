package textsearch

import (
	"strings"
	"sync"
)

// Stem returns the common form of an English word's plural, past tense and -ing form,
// such as cach for cache, caches, cached and caching. Other tokens are their own stems:
// function words, numbers, other languages. No stem is a function word or longer than
// its token, and both begin with the same letter.
//
// It covers the first steps of Porter's algorithm. The later ones, which join words such
// as general and generic, would make queries less precise.
func Stem(token string) string {
	s := token
	if strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) || IsFunctionWord(s) {
		return s
	}
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
		cut("es")
	case strings.HasSuffix(s, "sis"): // analysis, analyses
		cut("is")
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
	if s != token && IsFunctionWord(s) { // note is not a form of not
		return s + "e"
	}
	return s
}

// IsFunctionWord reports whether token is an English word that carries grammar
// rather than meaning, such as the or of.
func IsFunctionWord(token string) bool { return len(token) <= len("should") && functionWords()[token] }

var functionWords = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(`a about am an and any are as at be been but by can could did do does for from had has
		have how i if in into is it its me my no not of on or our she should so some than that the their them then there
		these they this those to us vs was we were what when where which who why will with would you your`) {
		m[w] = true
	}
	return m
})

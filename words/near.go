package words

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Limits of words for which a nearest one is sought.
const (
	minNear = 4  // letters; too many words are near a shorter one
	maxNear = 24 // letters
)

// Near returns the query for documents with a word that differs from t by one
// mistake: a letter that is missing, added or wrong, or two that are swapped. These
// are some 50 words for each letter. It returns false if t is a phrase or a prefix,
// has fewer than 4 or more than 24 letters, or is not of one alphabet.
func Near(t Term) (Query, bool) {
	if t.Prefix || len(t.Tokens) != 1 {
		return Query{}, false
	}
	token := t.Tokens[0]
	n := utf8.RuneCountInString(token)
	if n < minNear || n > maxNear {
		return Query{}, false
	}
	letters := []rune(token)
	i := slices.IndexFunc(alphabets, func(a alphabet) bool { return a.has(letters[0]) })
	if i < 0 {
		return Query{}, false
	}
	a := alphabets[i]
	if slices.ContainsFunc(letters, func(r rune) bool { return !a.has(r) }) {
		return Query{}, false
	}
	q := Query{partial: true}
	seen := map[string]bool{token: true}
	add := func(parts ...[]rune) {
		s := string(slices.Concat(parts...))
		if !seen[s] {
			seen[s] = true
			q.wanted = append(q.wanted, Term{Tokens: []string{s}, Quoted: true})
		}
	}
	for i := range n + 1 {
		before, after := letters[:i], letters[i:]
		if i < n {
			add(before, after[1:])
		}
		if i+1 < n {
			add(before, []rune{after[1], after[0]}, after[2:])
		}
		for r := a.first; r <= a.last; r++ {
			add(before, []rune{r}, after)
			if i < n {
				add(before, []rune{r}, after[1:])
			}
		}
	}
	return q, true
}

// Nearest returns the word that most of the documents have, or "" if none has any.
// The counts are results of [Matcher.Match] for the query near, which is the result of
// [Near] for t. Of equally common words it prefers one with the first letter of t.
func Nearest(t Term, near Query, counts [][]int) string {
	docs := make([]int, len(near.wanted))
	for _, c := range counts {
		for i, n := range c {
			if n > 0 {
				docs[i]++
			}
		}
	}
	best, found := "", 0
	first, _ := utf8.DecodeRuneInString(t.Tokens[0])
	begins := func(s string) int {
		if r, _ := utf8.DecodeRuneInString(s); r == first {
			return 1
		}
		return 0
	}
	for i, n := range docs {
		word := near.wanted[i].Tokens[0]
		if n > 0 && cmp.Or(cmp.Compare(n, found), cmp.Compare(begins(word), begins(best)), cmp.Compare(best, word)) > 0 {
			best, found = word, n
		}
	}
	return best
}

// An alphabet is a range of lower-case letters.
type alphabet struct{ first, last rune }

func (a alphabet) has(r rune) bool { return a.first <= r && r <= a.last }

// alphabets are those of Latin, Greek and Cyrillic after folding.
var alphabets = []alphabet{{'a', 'z'}, {'α', 'ω'}, {'а', 'я'}}

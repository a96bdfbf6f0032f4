package index

import (
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/words"
)

// How much a word counts that is not quite what was asked for.
const (
	otherForm    = 0.7 // another form of the word, against the word itself
	functionWord = 0.2 // a word that says little, against what its rarity alone would make of it
)

// forms returns other forms that an English word may have: with and without
// the endings of plurals, of past and of present tense. Most of them are no
// words; the index does not know those. A word that only looks English finds
// a few too many notes, which rank below those with the word itself.
func forms(word string) []string {
	const shortest = 4
	if len(word) < shortest || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return nil
	}
	stems := []string{word}
	stem := func(ending, instead string) {
		if base, ok := strings.CutSuffix(word, ending); ok && len(base) >= 3 {
			stems = append(stems, base+instead)
			if n := len(base); instead == "" && base[n-1] == base[n-2] { // running
				stems = append(stems, base[:n-1])
			}
		}
	}
	stem("ies", "y")
	stem("es", "")
	stem("s", "")
	stem("ied", "y")
	stem("ed", "")
	stem("ed", "e")
	stem("ing", "")
	stem("ing", "e")
	var out []string
	for _, s := range stems {
		out = append(out, s, s+"s", s+"es", s+"ed", s+"ing")
		if base, ok := strings.CutSuffix(s, "e"); ok {
			out = append(out, s+"d", base+"ing")
		}
		if base, ok := strings.CutSuffix(s, "y"); ok {
			out = append(out, base+"ies", base+"ied")
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == word })
}

// functionWords are English words that connect others. In a small vault they
// are not common enough to be seen for what they are.
const functionWords = " a about am an and any are as at be been but by can could did do does for from had has have how i if in into is it its " +
	"me my no not of on or our should so some than that the their them then there these they this those to us vs was we were what " +
	"when where which who why will with would you your "

// weight returns how much a unit counts. Of two characters of Hiragana, which
// writes the endings and particles of Japanese, none says much, and neither do
// the words of a question.
func weight(u unit) float64 {
	switch {
	case len(u.tokens) == 1 && strings.Contains(functionWords, " "+u.tokens[0]+" "):
		return functionWord
	case !slices.ContainsFunc(u.tokens, func(token string) bool { return !hiragana(token) }):
		return functionWord
	}
	return 1
}

func hiragana(token string) bool {
	r := []rune(token)
	return words.Unspaced(token) && r[0] >= 0x3041 && r[0] <= 0x309F
}

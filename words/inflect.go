package words

import (
	"slices"
	"strings"
	"sync"
)

// Forms returns token and the other inflections of the same English word: plurals,
// past tenses and -ing forms, such as retry, retries, retried and retrying. Some of
// them may not exist. A token that is not a word of English letters, and a function
// word, has no other forms. At most 40 are returned, token first.
//
// A form counts only if the rules lead from a base to token: thing is not a form of
// th, nor staring one of star. Derived words, such as indexer, are other words.
func Forms(token string) []string {
	out := []string{token}
	add := func(forms ...string) {
		for _, f := range forms {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	for _, base := range bases(token) {
		if forms := inflect(base); slices.Contains(forms, token) {
			add(forms...)
		}
		irregular := irregulars()
		for _, i := range irregular.groups[base] {
			group := irregular.words[i]
			add(group...)
			add(inflect(group[0])...)
		}
	}
	return out
}

// IsFunctionWord reports whether token is an English word that carries grammar
// rather than meaning, such as the or of.
func IsFunctionWord(token string) bool { return functionWords()[token] }

var functionWords = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(`a about am an and any are as at be been but by can could did do does for from had has
		have how i if in into is it its me my no not of on or our she should so some than that the their them then there
		these they this those to us vs was we were what when where which who why will with would you your`) {
		m[w] = true
	}
	return m
})

// bases returns the words of which token may be an inflection, token itself among
// them. The caller checks them with inflect.
func bases(token string) []string {
	if !isEnglish(token) || deceptive[token] {
		return nil
	}
	out := []string{token}
	add := func(bases ...string) {
		for _, b := range bases {
			if len(b) >= 2 && !IsFunctionWord(b) && !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
	}
	participle := func(stem string) { // token without -ed or -ing
		if syllables(stem) == 0 {
			return
		}
		add(stem, stem+"e")
		if n := len(stem); n > 2 && stem[n-1] == stem[n-2] {
			add(stem[:n-1])
		}
		if strings.HasSuffix(stem, "ck") { // panicked
			add(stem[:len(stem)-1])
		}
	}
	single := strings.TrimSuffix(token, "s")
	if s, ok := strings.CutSuffix(token, "es"); ok {
		add(s)
		if s, ok := strings.CutSuffix(token, "ies"); ok {
			add(s + "y")
		}
		if s, ok := strings.CutSuffix(token, "ices"); ok {
			add(s+"ex", s+"ix")
		}
		if strings.HasSuffix(token, "ses") {
			add(s[:len(s)-1] + "sis")
		}
	}
	add(single)
	if s, ok := strings.CutSuffix(token, "ed"); ok && !oneSyllableEed(token) {
		participle(s)
		if s, ok := strings.CutSuffix(token, "ied"); ok {
			add(s + "y")
		}
	}
	if s, ok := strings.CutSuffix(single, "ing"); ok {
		participle(s)
		if s, ok := strings.CutSuffix(s, "y"); ok { // dying
			add(s + "ie")
		}
	}
	return out
}

// deceptive are words that only look like an inflection of another word.
var deceptive = map[string]bool{"evening": true, "lens": true, "news": true, "nothing": true, "something": true, "thus": true}

// oneSyllableEed reports whether s is like need, which has no base.
func oneSyllableEed(s string) bool {
	return strings.HasSuffix(s, "eed") && syllables(s) == 1 && s != "freed"
}

// inflect returns base and its regular inflections as a noun and as a verb.
func inflect(base string) []string {
	if !isEnglish(base) || IsFunctionWord(base) {
		return nil
	}
	n := len(base)
	last, rest := base[n-1], base[:n-1]
	ends := func(endings ...string) bool {
		return slices.ContainsFunc(endings, func(e string) bool { return n > len(e) && strings.HasSuffix(base, e) })
	}
	if n == 2 { // an abbreviation: ids, ops
		if !isVowel(base[0]) || isVowel(last) || last == 's' {
			return []string{base}
		}
		return []string{base, base + "s"}
	}
	out := []string{base}
	switch {
	case ends("sis"):
		return append(out, base[:n-2]+"es")
	case ends("ss", "sh", "x", "z", "us", "ias"):
		out = append(out, base+"es")
		if ends("ex", "ix") {
			out = append(out, base[:n-2]+"ices")
		}
	case last == 's': // a plural, or a name
		return out
	case ends("ch"), last == 'o':
		out = append(out, base+"s", base+"es")
	case last == 'y' && !isVowel(base[n-2]):
		return append(out, rest+"ies", rest+"ied", base+"ing", base+"ings")
	default:
		out = append(out, base+"s")
	}
	participles := func(past, stem string) { out = append(out, past+"ed", stem+"ing", stem+"ings") }
	switch {
	case ends("ie"):
		participles(rest, base[:n-2]+"y")
	case ends("ee", "oe", "ye"):
		participles(rest, base)
	case ends("ue"):
		out = append(out, base+"ing")
		participles(rest, rest)
	case last == 'e':
		participles(rest, rest)
	case ends("ic"):
		participles(base+"k", base+"k")
	case closed(base):
		if syllables(base) > 1 || strings.ContainsRune("lszf", rune(last)) {
			participles(base, base)
		}
		if syllables(base) > 1 || !strings.ContainsRune("lszf", rune(last)) {
			participles(base+string(last), base+string(last))
		}
	default:
		participles(base, base)
	}
	return out
}

// isEnglish reports whether s has only the letters a to z, with a vowel among them.
func isEnglish(s string) bool {
	const most = 24 // letters; longer runs are identifiers or data
	if len(s) < 2 || len(s) > most || IsFunctionWord(s) {
		return false
	}
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return syllables(s) > 0
}

// closed reports whether s ends in one vowel and one consonant that is written twice
// before -ed and -ing in many words: stop, commit.
func closed(s string) bool {
	n := len(s)
	if n < 3 || isVowel(s[n-1]) || strings.ContainsRune("wxyhcjkqv", rune(s[n-1])) || !isVowel(s[n-2]) {
		return false
	}
	return !isVowel(s[n-3]) || s[n-3] == 'u' && n > 3 && s[n-4] == 'q'
}

// syllables counts the groups of vowels.
func syllables(s string) int {
	n, within := 0, false
	for i := range len(s) {
		vowel := isVowel(s[i]) || s[i] == 'y' && i > 0
		if vowel && !within {
			n++
		}
		within = vowel
	}
	return n
}

func isVowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

type irregularForms struct {
	words  [][]string
	groups map[string][]int // indexes into words
}

// irregulars returns words whose forms follow no rule, base first. Forms that are more
// often another word, such as left and thought, are not among them.
var irregulars = sync.OnceValue(func() (t irregularForms) {
	t.groups = make(map[string][]int)
	for line := range strings.Lines(`begin began begun
break broke broken
build built
buy bought
catch caught
child children
choose chose chosen
come came
draw drew drawn
drive drove driven
fall fell fallen
feed fed
find found
forget forgot forgotten
freeze froze frozen
get got gotten
give gave given
grow grew grown
hang hung
hide hid hidden
hold held
keep kept
know knew known
lose lost
make made
mean meant
override overrode overridden
overwrite overwrote overwritten
pay paid
rebuild rebuilt
rerun reran
resend resent
rewrite rewrote rewritten
run ran
see saw seen
seek sought
sell sold
send sent
show shown
shrink shrank shrunk
sleep slept
spend spent
spin spun
steal stole stolen
stick stuck
take took taken
teach taught
tell told
throw threw thrown
undo undid undone
understand understood
wake woke woken
win won
write wrote written`) {
		group := strings.Fields(line)
		for _, w := range group {
			t.groups[w] = append(t.groups[w], len(t.words))
		}
		t.words = append(t.words, group)
	}
	return t
})

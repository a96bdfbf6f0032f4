package findings

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// citation matches what may name a thought: #4, lazy#6, thought 4.
var citation = lazyregexp.New(`(?i)^([\p{L}\p{N}_./-]*)#(\d{1,5})\b|^thoughts?\s+(\d{1,5})\b`)

// introducing matches the end of a text after which a number sign names a thought: nothing, punctuation, or a word that
// introduces what is cited. After any other word it names something else: issue #4, core #1, the #1 reason.
var introducing = lazyregexp.New(`(?i)(^|[^\p{L}\p{N}\s]\s*|\b(as|in|of|see|from|per|by|and|or|with|since|because|that|than|on|to|at|under|via|given|both|` +
	`through|after|before|until|for|is|was|between|into|over|using|against|unlike|like|contrary|not|also|only|thoughts?|` +
	`confirms?|supports?|uses?|us(ed|ing)|appl(y|ies)|follows?|extends?|implies|contradicts?|repeats?|needs?|keeps?|makes?|takes?|shows?|proves?|` +
	`revis(e|es|ing)|replac(e|es|ing)|refutes?|corrects?|drops?|rejects?|withdraws?|retracts?|recalls?|cites?|says?|` +
	`wie|aus|nach|laut|siehe|zu|mit|und|oder|als|von|gegen|ersetzt|widerlegt|comme|selon|de|du|à|au|en|et|ou|voir|par|contre|según|como|por|y|o|ver|` +
	`come|da|secondo|e|vedi|conforme|segundo|do|em|zeigt|sagt|montre|dit|dice|muestra|mostra)\s+)$`)

// other matches the end of a text that gives a number to something else, also in a list: issues #4, #5 and #6.
var other = lazyregexp.New(`(?i)\b(issues?|tickets?|prs?|pull requests?|mrs?|items?|tasks?|bugs?|steps?|comments?|discussions?|gh|commits?)\s*` +
	`(#\d+\s*([,/&+]|and|or|und|et|y|e)*\s*)*$`)

// verb matches a text before "thought 4" that makes it a verb and a number. rank matches a text after #1 that makes it a rank.
var (
	verb = lazyregexp.New(`(?i)\b(i|we|you|they|he|she|one|who|first|also|always|never|had|have|has)\s+$`)
	rank = lazyregexp.New(`(?i)^\s+(priority|choice|reason|cause|problem|rule|concern|suspect|goal|candidate|request|complaint|question)\b`)
)

// doubted and doubting match what stands before and behind the number of a thought that does not hold, as the text says.
var (
	doubted = lazyregexp.New(`(?i)(\b(unlike|contrary|not|instead|rather than|correct|replac|supersed|revis|refut|disprov|contradict|withdr[ae]w|retract|drop|abandon|` +
		`reject|overturn|against|wrong|error|mistake|mistaken|leaving|aside|apart from|except|despite|giv(e|es|en|ing) up|gave up|old|former|original|earlier|outdated|` +
		`obsolete|stale|disput|without|no longer|undo|discard|flaw|anders als|entgegen|statt|ersetz|widerleg|anstelle|contrairement|lieu|diff[ée]r|contrario|diferencia|lugar|` +
		`contr[áa]rio|diversamente|invece|instea)\w*|不|错|誤|代わ|違)\W*(\S+\s+){0,3}\S*$`)
	doubting = lazyregexp.New(`(?i)^\W*(was|were)\b|^\S*\s*(\S+\s+){0,6}\S*(\b(wrong|false|incorrect|mistake|mistaken|outdated|obsolete|stale|replac|supersed|revis|correct|refut|disprov|` +
		`withdrawn|retract|dropped|abandon|reject|overturn|invalid|gone|moot|disput|no longer|not|never|cannot|guess|assum|claim|said|thought|believ|had|overlook|miss|` +
		`flaw|contradict|too|optimistic|pessimistic|naive|rough|falsch|nicht|widerleg|ersetz|überholt|fau(x|sse)|pas|plus|erron|ya no|incorrect|sbagliat|superat|errad)|n't\b|\bnon (è|vale)|não|不|错|誤|違)`)
)

// sentenceEnd matches the end of a sentence.
var sentenceEnd = lazyregexp.New(`[.!?;](\s|$)|[。！？；\n]`)

// around is how many bytes on each side of a number its sentence is looked at.
const around = 120

// citations returns the Seqs of the thoughts that a thought cites; without all those that it cites as if they held.
func (l *log) citations(t *sequent.Thought, all bool) (seqs []int) {
	for at := nextCitation(t.Text, 0); at >= 0 && l.room > 0; at = nextCitation(t.Text, at+1) {
		l.room--
		sentence, from := sentenceAround(t.Text, at)
		m := citation().FindStringSubmatchIndex(sentence[from:])
		for k := range m {
			if m[k] >= 0 {
				m[k] += from
			}
		}
		if m == nil {
			continue
		}
		if seq := l.cited(sentence, m, t); seq > 0 && !slices.Contains(seqs, seq) &&
			(all || !doubted().MatchString(sentence[:m[0]]) && !doubting().MatchString(sentence[m[1]:])) {
			seqs = append(seqs, seq)
		}
	}
	if all {
		return seqs
	}
	// An author who also cites the replacement knows about it.
	return slices.DeleteFunc(seqs, func(seq int) bool {
		by := l.replacement(seq, t)
		return by > 0 && slices.Contains(seqs, by)
	})
}

// nextCitation returns the index of the next number sign or word that may begin a citation, or -1.
func nextCitation(text string, from int) int {
	const word = "hought"
	sign, name := strings.IndexByte(text[from:], '#'), strings.Index(text[min(from+1, len(text)):], word)
	switch {
	case sign < 0 && name < 0:
		return -1
	case sign < 0 || name >= 0 && name < sign:
		return from + name // the letter before
	}
	return from + sign
}

// sentenceAround returns the sentence around a byte of a text, as far as it is near, and where a citation at that byte
// begins in it: before a number sign stands the name of its line.
func sentenceAround(text string, at int) (sentence string, from int) {
	begin, end := max(0, at-around), min(len(text), at+around)
	for begin < at && !utf8.RuneStart(text[begin]) {
		begin++
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	if ends := sentenceEnd().FindAllStringIndex(text[begin:at], -1); len(ends) > 0 {
		begin += ends[len(ends)-1][1]
	}
	if m := sentenceEnd().FindStringIndex(text[at:end]); m != nil {
		end = at + m[1]
	}
	sentence, from = text[begin:end], at-begin
	for from > 0 && text[at] == '#' {
		r, n := utf8.DecodeLastRuneInString(sentence[:from])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-", r) {
			break
		}
		from -= n
	}
	return sentence, from
}

// cited returns the Seq of the thought that a match of citation in a sentence of t names, or 0.
func (l *log) cited(sentence string, m []int, t *sequent.Thought) int {
	label, digits := t.Branch, ""
	if m[6] >= 0 {
		digits = sentence[m[6]:m[7]]
		if verb().MatchString(sentence[:m[0]]) {
			return 0
		}
	} else {
		digits = sentence[m[4]:m[5]]
		if prefix := sentence[m[2]:m[3]]; prefix != "" {
			if _, ok := l.lines[prefix]; !ok {
				return 0
			}
			label = prefix
		}
		if !introducing().MatchString(sentence[:m[2]]) || rank().MatchString(sentence[m[1]:]) || other().MatchString(sentence[:m[2]]) {
			return 0
		}
	}
	number, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	end := *t
	end.Branch = label
	for _, seq := range latest(l.numbered[number]) {
		if seq < t.Seq && l.leads(seq, &end) {
			return seq
		}
	}
	return 0
}

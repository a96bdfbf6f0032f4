package findings

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// citation matches what may name a thought: #4, lazy#6, thought 4.
var citation = lazyregexp.New(`(?i)([\p{L}\p{N}_./-]*)#(\d{1,5})\b|\bthoughts?\s+(\d{1,5})\b`)

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

// verb matches the end of a text after which "thought 4" is not a name, rank the beginning of one after which #1 is none.
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

func cites(text string) bool {
	return (strings.ContainsRune(text, '#') || strings.Contains(text, "hought")) && citation().MatchString(text)
}

// citations returns the Seqs of the thoughts that a thought cites; without all those that it cites as if they held.
func (l *log) citations(t *sequent.Thought, all bool) (seqs []int) {
	begin := 0
	ends := append(sentenceEnd().FindAllStringIndex(t.Text, -1), []int{len(t.Text), len(t.Text)})
	for _, end := range ends {
		sentence := t.Text[begin:end[1]]
		begin = end[1]
		for _, m := range citation().FindAllStringSubmatchIndex(sentence, -1) {
			if seq := l.cited(sentence, m, t); seq > 0 && !slices.Contains(seqs, seq) &&
				(all || !doubted().MatchString(sentence[:m[0]]) && !doubting().MatchString(sentence[m[1]:])) {
				seqs = append(seqs, seq)
			}
		}
	}
	if all {
		return seqs
	}
	// Whoever cites what has replaced a thought knows about it.
	return slices.DeleteFunc(seqs, func(seq int) bool {
		by := l.replacement(seq, t)
		return by > 0 && slices.Contains(seqs, by)
	})
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
		if !introducing().MatchString(sentence[:m[2]]) || rank().MatchString(sentence[m[1]:]) || other().MatchString(sentence[:m[2]]) || l.isOther(digits) {
			return 0
		}
	}
	number, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	end := *t
	end.Branch = label
	for _, seq := range slices.Backward(l.numbered[number]) {
		if seq < t.Seq && l.leads(seq, &end) {
			return seq
		}
	}
	return 0
}

// isOther reports whether a text of the session gives a number to an issue or the like.
func (l *log) isOther(digits string) bool {
	if l.others == nil {
		l.others = make(map[string]bool)
		for i := range l.thoughts {
			text := l.thoughts[i].Text
			for _, m := range numberSign().FindAllStringIndex(text, -1) {
				if other().MatchString(text[max(0, m[0]-60):m[0]]) {
					l.others[text[m[0]+1:m[1]]] = true
				}
			}
		}
	}
	return l.others[digits]
}

var numberSign = lazyregexp.New(`#\d{1,5}\b`)

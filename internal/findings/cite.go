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

// other matches the end of a text after which a number is that of something else, also in a list: issues #4, #5.
var other = lazyregexp.New(`(?i)\b(steps?|issues?|tickets?|prs?|pull requests?|requests?|mrs?|items?|tasks?|bugs?|cases?|rfcs?|sections?|notes?|comments?|` +
	`discussions?|gh|tests?|lines?|rows?|figures?|tables?|questions?|problems?|commits?|cves?|builds?|runs?|jobs?|pages?|chapters?|versions?|` +
	`options?|points?|rules?|reasons?|cards?|stor(y|ies)|epics?|milestones?|releases?|patch(es)?|proposals?|incidents?|alerts?|channels?|` +
	`slots?|rooms?|players?|workers?|shards?|nodes?|replicas?|attempts?|candidates?|approach|hypothes[ie]s|findings?)[\s:(\[]*` +
	`([#\w./-]*#?\d+\s*([,/&+]|and|or|und|et|y)*\s*)*$`)

// excused matches a sentence that says itself that what it cites does not hold.
var excused = lazyregexp.New(`(?i)\b(wrong|false|incorrect|mistake|mistaken|error in|replac|supersed|revis|correct|refut|disprov|disproof|unlike|contrary|contradict|` +
	`no longer|not hold|n't hold|withdr[ae]w|retract|drop(s|ped|ping)?\b|abandon|gave up|giv(e|es|en|ing) up|reject|overturn|outdated|obsolete|invalid|instead|` +
	`missed|overlook|earlier|original|initial|first (thought|guess|idea)|old |was |were |turned out|amend|rather than|differ|disagree|reconsider|rethink|` +
	`re-?check|re-?open|undo|stale|former|used to|had |claimed|assumed|despite|in spite|flaw|hole in|overstat|understat|careless|misread|misunder|discard|` +
	`fix(es|ed)?\b|repair|mend|narrow|sharpen|update|falsch|ersetz|statt|anders als|widerleg|verworfen|korrig|faux|fausse|remplac|erron|corrig|incorrect[oa]|` +
	`equivoc|reemplaz|sbagliat|sostitu)|错|誤|間違|替|代わ|改`)

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
		var here []int
		for _, m := range citation().FindAllStringSubmatchIndex(sentence, -1) {
			if seq := l.cited(sentence, m, t); seq > 0 && !slices.Contains(here, seq) {
				here = append(here, seq)
			}
		}
		if all || len(here) > 0 && !excused().MatchString(sentence) {
			seqs = append(seqs, here...)
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
	} else {
		digits = sentence[m[4]:m[5]]
		if prefix := sentence[m[2]:m[3]]; prefix != "" {
			if _, ok := l.lines[prefix]; !ok {
				return 0
			}
			label = prefix
		}
		if other().MatchString(sentence[:m[2]]) || l.isOther(digits) {
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

package analysis

import (
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/reference"
	"github.com/sequent-dev/sequent/textsearch"
)

// punctuation is what may stand around a word.
const punctuation = ".,;:()[]{}<>\"'`*_!?“”‘’—–"

func bare(field string) string { return strings.Trim(field, punctuation) }

// refers returns the other session that a word names, or -1.
func (c *corpus) refers(from *session, word string, named bool) int {
	if i := strings.LastIndexByte(word, '/'); i >= 0 { // sequent://sessions/ID, [[sequential/ID]]
		named = named || strings.Contains(word[:i], "session") || strings.Contains(word[:i], "sequential")
		word = word[i+1:]
	}
	for r := range reference.Readings(word) {
		for _, i := range c.byID[r.Session] {
			h := &c.sessions[i].header
			if h.Owner == from.header.Owner && h.ID != from.header.ID && (named || r.NamesThought() || telling(string(h.ID))) {
				return i
			}
		}
	}
	return -1
}

// telling reports whether a word can only be an ID, because it is long and not a word.
func telling(id string) bool {
	return len(id) >= 6 && strings.ContainsAny(id, "0123456789") && strings.ContainsFunc(id, unicode.IsLetter) ||
		len(id) >= 12 && strings.ContainsAny(id, "-_")
}

// mentionsIn returns the sessions that a sentence names, and what it says about each:
// revised, rejected, or nothing. The next sentence can say it, too, if it begins with a pronoun.
func (c *corpus) mentionsIn(from *session, sentence, next string) map[int]string {
	// Most sentences cannot name a session.
	if !strings.ContainsAny(sentence, "0123456789-_#@/") && !strings.Contains(sentence, "ession") {
		return nil
	}
	named := make(map[int]string)
	fields := strings.Fields(sentence)
	for i, field := range fields {
		word := strings.TrimSuffix(bare(field), "'s")
		if word == "" {
			continue
		}
		target := c.refers(from, word, i > 0 && strings.HasPrefix(strings.ToLower(bare(fields[i-1])), "session"))
		if _, ok := named[target]; ok || target < 0 {
			continue
		}
		end := field[len(strings.TrimRight(field, punctuation)):]
		before, after := strings.Join(fields[:i], " "), strings.Join(fields[i+1:], " ")
		named[target] = judgement(strings.ToLower(strings.TrimSpace(before + " @" + strings.Trim(end, "`\"'*_)") + " " + after)))
		if pronoun, rest, _ := strings.Cut(next, " "); named[target] == "" && pronouns[strings.ToLower(pronoun)] && !considered().MatchString(sentence) {
			named[target] = judgement("@ " + rest)
		}
	}
	return named
}

var pronouns = map[string]bool{"that": true, "this": true, "it": true, "which": true}

const (
	claims    = `(?:conclusion|decision|answer|finding|result|plan|verdict|diagnosis|recommendation|choice|claim|what)s?`
	wrong     = `(wrong|false|incorrect|mistaken|rejected|refuted|dispro(?:ved|ven)|invalid(?:ated)?|overturned|contradicted|withdrawn|retracted|untenable|unsound|discarded)`
	outdated  = `(revised|superseded|replaced|outdated|obsolete|corrected|reversed|amended|stale|overruled)`
	rejecting = `(reject|refute|disprove|overturn|contradict|withdraw|withdrew|retract|invalidate|discard)`
	revising  = `(revise|revising|supersede|superseding|replace|replacing|correct|reverse|reversing|amend|overrule|overruling)`
)

// What a sentence says about a session, whose name is @ in it. The first group rejects it, the
// second one revises it.
var (
	// The conclusion of @ was wrong; @ no longer holds.
	judgedAfter = lazyregexp.New(`(?:^|[.,;:] |\b(?:that|and|but|so) )(?:(?:the |our |its )?` + claims + ` (?:(?:of|in|from|by) )?)?(?:the )?(?:session )?@` +
		`(?: (?:concluded|decided|found|said|claimed|recommended))?(?: has| have)?(?: since| now| also| already| later| clearly)*` +
		`(?: (?:(?:does not|doesn't|did not|didn't|no longer) (?:hold|appl(?:y|ie)|stand)s?()|` +
		`(?:is|was|are|were|been|became|proved|turned out)(?: to be| clearly| simply| since| partly| completely)* (?:` + wrong + `|` + outdated + `))\b)`)
	// This supersedes the plan of @.
	judgedBefore = lazyregexp.New(`(\S+ )?\b(?:` + rejecting + `|` + revising + `)(?:s|d|ed|ing|n)?` +
		`(?: (?:the|its|our|my|their|that|this|these|earlier|old|older|previous|last|first|session|sessions|of|in|from|by|made|` + claims + `))* @`)
	// What precedes the verb of a sentence that does not judge.
	passive = lazyregexp.New(`^(?:is|was|are|were|be|been|being|to|not|never|don't|didn't|will|won't) $`)
	// A question or a condition.
	considered = lazyregexp.New(`\?$|\b(?:if|whether|unless|suppose|perhaps|maybe|could|should|would|might|may|must|can|cannot|can't|never|nothing|before|without)\b`)
)

// judgement returns what a sentence says about @.
func judgement(sentence string) string {
	if considered().MatchString(sentence) {
		return ""
	}
	if m := judgedAfter().FindStringSubmatchIndex(sentence); m != nil {
		if m[6] >= 0 {
			return revised
		}
		return rejected
	}
	m := judgedBefore().FindStringSubmatch(sentence)
	switch {
	case m == nil || passive().MatchString(m[1]):
		return ""
	case m[2] != "":
		return rejected
	}
	return revised
}

// An assumption is a sentence that assumes something.
type assumption struct {
	stems   []uint32
	numbers string // those in it, in order
	negated bool
	use     Part
}

var (
	assuming = lazyregexp.New(`(?i)\b(?:assum(?:e|es|ed|ing|ptions?)|presum(?:e|es|ed|ing|ably)|suppos(?:e|es|ed|ing))\b(?:[ :]+(?:that|here|is|was|for now|again|still|one)\b)*:?`)
	// Words that say what became of an assumption, or that it should not be made.
	notAssuming = lazyregexp.New(`(?i)\b(?:wrong|false|incorrect|mistaken|disproved|refuted|invalid|invalidated|failed|broken|nobody|unfounded|validated|confirmed|checked|verified)\b|` +
		`\b(?:not|never|don't|cannot|can't|shouldn't|mustn't|without|no longer|stop|avoid|unlike|former|earlier|old)(?: \S+){0,2} (?:assum|presum|suppos)\w*|\?$`)
	// What follows is not assumed.
	consequence = lazyregexp.New(`[:;] |, (?:and|but|so|then|which|because|since|hence|therefore|thus)\b`)
	negation    = lazyregexp.New(`(?i)\b(?:not|never|no|neither|nor|without|hardly|nobody|cannot|\w+n't)\b`)
)

// assumption returns what a sentence assumes, if it does.
func (s stems) assumption(sentence string) (a assumption, ok bool) {
	if !strings.Contains(sentence, "ssum") && !strings.Contains(sentence, "resum") && !strings.Contains(sentence, "uppos") {
		return a, false
	}
	at := assuming().FindStringIndex(sentence)
	if at == nil || notAssuming().MatchString(sentence) {
		return a, false
	}
	clause := strings.TrimSpace(sentence[at[1]:])
	word := strings.ToLower(sentence[at[0]:at[1]])
	if i := strings.Index(clause, ", "); i > 0 && (strings.Contains(word, "ing") || strings.HasPrefix(word, "suppose")) {
		clause = clause[:i] // "Assuming the disk is full, the writer blocks"
	}
	if end := consequence().FindStringIndex(clause); end != nil {
		clause = clause[:end[0]]
	}
	tokens := textsearch.Tokens(clause)
	a.stems = s.set(tokens)
	a.negated = len(negation().FindAllString(clause, -1))%2 == 1
	for _, t := range tokens {
		if strings.IndexFunc(t, unicode.IsDigit) >= 0 {
			a.numbers += " " + t
		}
	}
	return a, len(a.stems) >= minShared
}

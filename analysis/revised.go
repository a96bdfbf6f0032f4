package analysis

import (
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A mention is a sentence that names another session.
type mention struct {
	target int    // index in corpus.sessions
	how    string // HowRevised, HowRejected, or empty if it only names it
	text   string
	kind   string
	by     Cite
}

// changedIn returns the conclusions that a session, its notes or its decisions revise or
// reject.
func changedIn(s *sequent.Session, log []sequent.Thought, standings []sequent.Standing) []Revised {
	var all []Revised
	lines := s.Lines()
	for _, t := range log {
		if t.More { // no conclusion
			continue
		}
		r := Revised{Title: s.Title(), Conclusion: cite(s, t, t.Text), How: HowRevised, Kind: ByRevision}
		if t.Seq == len(log) && s.Conclusion() != "" {
			r.Conclusion = cite(s, t, s.Conclusion())
		}
		line := lines[slices.IndexFunc(lines, func(l sequent.Line) bool { return l.Label == t.Branch })]
		switch st := standings[t.Seq-1]; {
		case st.State == sequent.Superseded:
			r.By = cite(s, log[st.By-1], log[st.By-1].Text)
		case line.Verdict == sequent.Rejected && line.By > t.Seq:
			r.How, r.Kind, r.By = HowRejected, ByDecision, cite(s, log[line.By-1], log[line.By-1].Text)
		case st.State == sequent.Disputed || disputed(s, t.Seq):
			note := dispute(s, t.Seq)
			r.How, r.Kind, r.By = HowRejected, ByNote, cite(s, t, note.Text)
			r.By.At = note.At
		default:
			continue
		}
		all = append(all, r)
	}
	return all
}

// disputed reports whether the latest judgement of a person about a thought is that it is
// wrong.
func disputed(s *sequent.Session, seq int) bool { return dispute(s, seq).Kind == sequent.Wrong }

// dispute returns the latest judgement about a thought; its kind is empty for a thought that was not judged.
func dispute(s *sequent.Session, seq int) (latest sequent.Note) {
	for _, n := range s.Notes() {
		if n.Seq == seq && n.Kind != sequent.Remark {
			latest = n
		}
	}
	return latest
}

// revised returns the conclusions that something later revises or rejects, each once for
// each session that says so.
func (c *corpus) revised() []Revised {
	var all []Revised
	add := func(r Revised) {
		if c.about(r.By.At, r.Conclusion.key(), r.By.key()) {
			all = append(all, r)
		}
	}
	for _, s := range c.sessions {
		for _, r := range s.changed {
			add(r)
		}
		said := make(map[int]bool) // sessions of which this one has said so
		for _, m := range slices.Backward(s.mentions) {
			old := c.sessions[m.target]
			if said[m.target] || old.concluded.IsZero() || !m.by.At.After(old.concluded) {
				continue
			}
			said[m.target] = true
			add(Revised{Title: old.header.Title, Conclusion: old.end, How: m.how, Kind: m.kind, By: m.by})
		}
	}
	slices.SortStableFunc(all, func(a, b Revised) int { return b.By.At.Compare(a.By.At) })
	return all
}

// A token is a word of a sentence.
type token struct {
	word   string // lower case, without punctuation around it
	target int    // the session that it names, or -1
	ends   bool   // a comma, colon or bracket follows
}

// mentionsIn returns the sessions that a sentence names, and what it says about each. A
// judgement can also be in the next sentence, if that begins with a pronoun.
func (c *corpus) mentionsIn(from *session, sentence, next string) []mention {
	// Most sentences cannot name a session; see refers.
	if !strings.ContainsAny(sentence, "0123456789-_#@/") && !strings.Contains(sentence, "ession") {
		return nil
	}
	tokens := c.tokens(from, sentence)
	var all []mention
	for i, t := range tokens {
		if t.target < 0 || slices.ContainsFunc(all, func(m mention) bool { return m.target == t.target }) {
			continue
		}
		m := mention{target: t.target, text: sentence}
		if !strings.HasSuffix(sentence, "?") && !conditional(tokens) {
			m.how = judgedBefore(tokens[:i])
			if m.how == "" && !t.ends && subject(tokens[:i]) {
				m.how = judgedAfter(tokens[i+1:])
			}
			if m.how == "" && next != "" && !strings.HasSuffix(next, "?") {
				if following := c.tokens(from, next); len(following) > 2 && pronouns[following[0].word] && !conditional(following) {
					if m.how = judgedAfter(following[1:]); m.how != "" {
						m.text = sentence + " " + next
					}
				}
			}
		}
		all = append(all, m)
	}
	return all
}

// tokens splits a sentence.
func (c *corpus) tokens(from *session, sentence string) []token {
	var all []token
	for field := range strings.FieldsSeq(sentence) {
		word := strings.Trim(field, ".,;:()[]{}<>\"'`*_!?“”‘’—–")
		if word == "" {
			continue
		}
		named := len(all) > 0 && (all[len(all)-1].word == "session" || all[len(all)-1].word == "sessions")
		all = append(all, token{word: strings.ToLower(word), target: c.refers(from, word, named), ends: strings.HasSuffix(field, ",") || strings.HasSuffix(field, ";") || strings.HasSuffix(field, ":")})
	}
	return all
}

// refers returns the other session that a word names, or -1.
func (c *corpus) refers(from *session, word string, named bool) int {
	if word = strings.TrimSuffix(word, "'s"); word == "" {
		return -1
	}
	if i := strings.LastIndexByte(word, '/'); i >= 0 { // sequent://sessions/ID, [[sequential/ID]]
		named = named || strings.Contains(word[:i], "session") || strings.Contains(word[:i], "sequential")
		word = word[i+1:]
	}
	for r := range sequent.References(word) {
		for _, i := range c.byID[r.Session] {
			h := &c.sessions[i].header
			if h.Owner != from.header.Owner || h.ID == from.header.ID {
				continue
			}
			if named || r.NamesThought() || telling(string(h.ID)) {
				return i
			}
		}
	}
	return -1
}

// telling reports whether a word can only be an ID, because it is long and not a word.
func telling(id string) bool {
	return len(id) >= 6 && strings.ContainsAny(id, "0123456789") && strings.ContainsAny(strings.ToLower(id), "abcdefghijklmnopqrstuvwxyz") ||
		len(id) >= 12 && strings.ContainsAny(id, "-_")
}

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var (
	rejecting = set(`wrong false incorrect mistaken rejected refuted disproved disproven invalid invalidated overturned contradicted
		withdrawn retracted untenable unsound misdiagnosed discarded`)
	revising = set(`revised superseded replaced outdated obsolete corrected reversed amended stale overruled`)

	rejects = set(`reject rejects rejected rejecting refute refutes refuted refuting disprove disproves disproved disproving overturn overturns
		overturned overturning contradict contradicts contradicted contradicting withdraw withdraws withdrew withdrawn withdrawing
		retract retracts retracted retracting invalidate invalidates invalidated invalidating discard discards discarded discarding`)
	revises = set(`revise revises revised revising supersede supersedes superseded superseding replace replaces replaced replacing correct corrects
		corrected correcting reverse reverses reversed reversing amend amends amended amending overrule overrules overruled overruling`)

	being     = set(`is was are were be been being turned proved proven proves became s`)
	negations = set(`not never no neither nor isn't wasn't aren't weren't hasn't haven't didn't doesn't don't cannot can't won't without hardly nothing nobody`)
	notYet    = set(`to should could may might would must will can if whether unless when before not never didn't doesn't don't cannot can't won't cannot would've without no`)
	holding   = set(`hold holds held stand stands stood apply applies applied`)
	adverbs   = set(`has had have also again already since then now simply partly completely entirely clearly later to out do does did so far
		any longer quite too both meanwhile plainly`)
	articles     = set(`the a an its our their that this`)
	prepositions = set(`of in from by with for at on to like see under into about behind within than`)
	conclusions  = set(`conclusion conclusions decision decisions answer answers finding findings result results plan verdict diagnosis
		recommendation recommendations choice claim what concluded decided recommended claimed proposed said found`)
	pronouns   = set(`that this it which`)
	conditions = set(`if whether unless suppose perhaps maybe`)

	// between has words that may stand between a verb and the session that it is about.
	between = set(`the its our my their your that this these those conclusion conclusions decision decisions answer finding findings result results plan
		verdict diagnosis recommendation choice claim what of from in by reached made given said session sessions earlier old older previous
		last first main its and both`)
)

// conditional reports whether a sentence only considers something.
func conditional(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return conditions[t.word] })
}

// judgedBefore looks for a verb whose object is the session that follows the tokens:
// "this revises the conclusion of".
func judgedBefore(tokens []token) string {
	i := len(tokens) - 1
	for steps := 0; i >= 0 && between[tokens[i].word] && steps < 8; steps++ {
		i--
	}
	if i < 0 {
		return ""
	}
	how := ""
	switch word := tokens[i].word; {
	case rejects[word]:
		how = HowRejected
	case revises[word]:
		how = HowRevised
	default:
		return ""
	}
	if tokens[i].ends {
		return "" // another clause
	}
	for _, t := range tokens[max(0, i-2):i] {
		if notYet[t.word] {
			return ""
		}
	}
	if i > 0 && being[tokens[i-1].word] {
		return "" // "was replaced in": the subject is before the verb
	}
	return how
}

// subject reports whether a session, which follows the tokens, is what its sentence is
// about. In "the cache in 7k3 was replaced" it is not; in "the conclusion of 7k3" it is.
func subject(before []token) bool {
	i := len(before) - 1
	for i >= 0 && (before[i].word == "session" || articles[before[i].word]) {
		i--
	}
	if i < 0 || !prepositions[before[i].word] {
		return true
	}
	return i > 0 && conclusions[before[i-1].word]
}

// judgedAfter looks for what is said about the session before the tokens: "was wrong",
// "no longer holds". Few words may stand between.
func judgedAfter(tokens []token) string {
	const reach = 9
	is, negated, article := false, false, false
	for i, t := range tokens[:min(len(tokens), reach)] {
		word := t.word
		switch {
		case article && i+1 < len(tokens) && !conclusions[tokens[i+1].word]:
			return "" // "was a wrong index" is about the index
		case holding[word] && negated:
			return HowRejected
		case rejecting[word] && is && !negated:
			return HowRejected
		case revising[word] && is && !negated:
			return HowRevised
		case being[word]:
			is = true
		case negations[word]:
			negated = true
			is = is || strings.HasPrefix(word, "is") || strings.HasPrefix(word, "was")
		case is && articles[word]:
			article = true
		case adverbs[word], !is && conclusions[word]:
		default:
			return ""
		}
	}
	return ""
}

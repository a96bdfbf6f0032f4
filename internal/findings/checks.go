package findings

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/sequent-dev/sequent"
)

// check returns what a thought shows, the most important first.
func (l *log) check(t *sequent.Thought) (all []Finding) {
	say := func(kind Kind, of []int, text, fix string) {
		all = append(all, Finding{Kind: kind, At: t.Seq, Of: of, Text: text, Fix: fix})
	}
	l.number(t, say)
	l.revision(t, say)
	l.branch(t, say)
	if t.Final && strings.TrimSpace(t.Text) != "" {
		l.conclusion(t, say)
	}
	for _, c := range l.citations(t, false) {
		if by := l.replacement(c, t); by > 0 && !l.replaces(t, by) {
			say(Stale, []int{c, by}, fmt.Sprintf("%s, which this cites, was replaced by %s.", l.name(c, t.Branch), l.name(by, t.Branch)),
				"Does this hold all the same? If not, revise it.")
		}
	}
	return all
}

type sayer func(kind Kind, of []int, text, fix string)

// replaces reports whether a thought replaces another one, or something that this one has replaced.
func (l *log) replaces(t *sequent.Thought, seq int) bool {
	for left := maxSteps; seq > 0 && left > 0; seq, left = l.at(seq).Supersedes, left-1 {
		if t.Supersedes == seq {
			return true
		}
	}
	return false
}

// number finds a number that was used already.
func (l *log) number(t *sequent.Thought, say sayer) {
	if t.Revision || t.Supersedes > 0 || t.Final && t.Text == "" {
		return
	}
	for _, seq := range latest(l.numbered[t.Number]) {
		if seq < t.Seq && l.at(seq).Branch == t.Branch && l.leads(seq, t) {
			say(Reused, []int{seq}, fmt.Sprintf("A %d exists (%q).", t.Number, l.quote(seq)),
				fmt.Sprintf("Correction? revisesThought %d. Other problem? Pass its sessionId.", t.Number))
			return
		}
	}
}

// revision finds what a revision leaves unclear.
func (l *log) revision(t *sequent.Thought, say sayer) {
	old := t.Supersedes
	if old == 0 {
		if _, named := t.Revises.Number(); t.Revision && !named {
			say(EmptyRevision, nil, "This revision names no thought, so it replaces none.", "Was one wrong? revisesThought: its number.")
		}
		return
	}
	for _, by := range latest(l.revisions[old]) {
		if by < t.Seq && l.leads(by, t) && l.replacement(by, t) == 0 {
			say(ReplacedTwice, []int{old, by}, fmt.Sprintf("%s was already replaced by %s, which still holds.", l.name(old, t.Branch), l.name(by, t.Branch)),
				fmt.Sprintf("Meant that? Then say so with revisesThought %d.", l.at(by).Number))
			break
		}
	}
	if strings.TrimSpace(t.Text) == "" {
		return
	}
	for seq, left := old, maxSteps; seq > 0 && left > 0; seq, left = l.at(seq).Supersedes, left-1 {
		if l.words(seq) != l.words(t.Seq) {
			continue
		}
		if seq == old {
			say(Circular, []int{seq}, fmt.Sprintf("This repeats %s, which it replaces, word for word.", l.name(seq, t.Branch)), "What is different?")
		} else {
			say(Circular, []int{seq, old}, fmt.Sprintf("This restores %s, which was replaced, word for word.", l.name(seq, t.Branch)),
				"Say what is wrong with "+l.name(old, t.Branch)+".")
		}
		break
	}
}

// words returns a hash of a thought's words and signs, to compare its text with another one.
func (l *log) words(seq int) uint64 {
	if sum, ok := l.hashes[seq]; ok {
		return sum
	}
	h := fnv.New64a()
	for word := range strings.FieldsFuncSeq(strings.ToLower(l.at(seq).Text), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(".,;:!?…\"'`()", r)
	}) {
		_, _ = h.Write([]byte(word + " "))
	}
	l.hashes[seq] = h.Sum64()
	return l.hashes[seq]
}

// branch finds a branch that leaves from what does not hold, at its first thought and when it is chosen.
func (l *log) branch(t *sequent.Thought, say sayer) {
	if line := l.lines[t.Branch]; t.Branch != "" && line.First == t.Seq && line.Origin > 0 {
		origin := l.at(line.Origin)
		if by := l.left(line, t); by > 0 {
			say(BranchFromReplaced, []int{origin.Seq, by}, fmt.Sprintf("%s leaves from %s, which %s replaced.", t.Branch, l.name(origin.Seq, ""), l.name(by, "")),
				fmt.Sprintf("Meant that? Begin another branch, with branchFromThought %d.", l.at(by).Number))
		} else if number, named := t.From.Number(); named {
			for _, seq := range latest(l.numbered[number]) {
				if seq < origin.Seq && l.at(seq).Branch == origin.Branch && !l.replaces(origin, seq) {
					say(BranchFromReplaced, []int{origin.Seq, seq}, fmt.Sprintf("There are two thoughts %d; %s leaves from the later one (%q).",
						number, t.Branch, l.quote(origin.Seq)), "")
					break
				}
			}
		}
	}
	for _, d := range l.decisions[t.Seq] {
		line, ok := l.lines[d.Line]
		if d.Verdict != sequent.Chosen || !ok || line.Origin == 0 || line.First == t.Seq {
			continue
		}
		if by := l.left(line, t); by > 0 {
			say(ChosenReplaced, []int{line.Origin, by}, fmt.Sprintf("%s, which this chooses, leaves from %s, which %s replaced.",
				d.Line, l.name(line.Origin, ""), l.name(by, "")), "Does it hold all the same?")
		}
	}
}

// left returns what had replaced the thought from which a line leaves before another thought was recorded, or 0.
func (l *log) left(line sequent.Line, before *sequent.Thought) int {
	origin := *l.at(line.Origin)
	seq := origin.Seq
	origin.Seq = before.Seq // its line, as long as it was then
	return l.replacement(seq, &origin)
}

// conclusion finds what a conclusion leaves open.
func (l *log) conclusion(t *sequent.Thought, say sayer) {
	cited, lineage := l.citations(t, true), l.lineage(t)
	for i, left := t.Seq-2, maxSteps; i >= 0 && left > 0; i-- {
		c := &l.thoughts[i]
		if !c.Final || c.Text == "" || !lineage[c.Branch] {
			continue
		}
		if left--; !l.leads(c.Seq, t) || l.replacement(c.Seq, t) > 0 {
			continue
		}
		if t.Supersedes == 0 && !slices.Contains(cited, c.Seq) { // who cites it knows about it
			say(SecondConclusion, []int{c.Seq}, fmt.Sprintf("%s concludes already, and still holds.", l.name(c.Seq, t.Branch)),
				fmt.Sprintf("Does this replace it? Then say so with revisesThought %d.", c.Number))
		}
		break
	}
	var open []string
	var firsts []int
	for _, line := range l.branches[:min(len(l.branches), maxLines)] {
		if line.First == 0 || line.First > t.Seq || lineage[line.Label] {
			continue
		}
		if by := l.decided[line.Label]; by == 0 || by > t.Seq {
			open, firsts = append(open, line.Label), append(firsts, line.First)
		}
	}
	if len(open) > 0 {
		const most = 3
		names := strings.Join(open[:min(len(open), most)], ", ")
		if n := len(open) - most; n > 0 {
			names += fmt.Sprintf(" and %d more", n)
		}
		say(NoVerdict, firsts, "There is no verdict on "+names+".", "Add chooses or rejects.")
	}
	for _, c := range l.citations(t, false) {
		if l.disputed[c] {
			say(Contested, []int{c}, fmt.Sprintf("A person disputes %s, on which this rests.", l.name(c, t.Branch)), "Revise it, or say why it holds.")
		}
	}
}

package analysis

import (
	"cmp"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// leftOf returns the threads of a session that were left.
func (c *corpus) leftOf(s *sequent.Session, log []sequent.Thought, standings []sequent.Standing) (all []Finding) {
	idle := s.State() == sequent.Active && !s.Updated().After(c.now.Add(-c.query.Idle))
	if s.State() == sequent.Abandoned || idle {
		return []Finding{leftThread(s, string(s.State()), log, standings, func(*sequent.Thought) bool { return true })}
	}
	for _, line := range s.Lines() {
		if line.Label == "" || line.First == 0 || line.Verdict != sequent.Undecided {
			continue // the main line is the session; a verdict says why it was left
		}
		if standings[line.Last-1].State.GivenUp() { // nothing that holds came from its end
			all = append(all, leftThread(s, "branch "+line.Label+" has no verdict", log[:line.Last], standings,
				func(t *sequent.Thought) bool { return t.Branch == line.Label }))
		}
	}
	return all
}

// leftThread returns thoughts of a session as a thread that was left: the last question that it asked,
// and its last thought that holds.
func leftThread(s *sequent.Session, why string, log []sequent.Thought, standings []sequent.Standing, on func(*sequent.Thought) bool) Finding {
	last := log[len(log)-1] // if everything was revised on other lines
	found := false
	var asked []Part
	for _, t := range slices.Backward(log) {
		if !on(&t) || standings[t.Seq-1].State == sequent.Superseded {
			continue
		}
		if !found {
			last, found = t, true
		}
		if question, ok := lastQuestion(t.Text); ok {
			asked = []Part{{"asked last", cite(s, t, question)}}
			break
		}
	}
	f := Finding{Title: titled(s.Title()) + " (" + why + ")", Parts: asked, at: last.At}
	if len(asked) == 0 || asked[0].Seq != last.Seq {
		f.Parts = append(f.Parts, Part{"stands at", cite(s, last, last.Text)})
	}
	return f
}

func titled(text string) string { return cmp.Or(text, "(no title)") }

// open matches the beginning of a sentence that leaves something open without a question
// mark.
var open = lazyregexp.New(`(?i)^[-*• ]*(open (question|point|item|issue)s?|still (open|unclear|unknown|missing|to (be )?(check|find out|decide|do|test|verif)\w*)|to ?do|not (yet )?(clear|known|checked|tested|decided)|unclear|unknown|next)\b`)

// lastQuestion returns the last question of a text.
func lastQuestion(text string) (string, bool) {
	for _, sentence := range slices.Backward(brief.Sentences(text)) {
		if brief.Asks(sentence) || open().MatchString(sentence) {
			return sentence, true
		}
	}
	return "", false
}

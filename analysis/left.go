package analysis

import (
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// leftOf returns the threads of a session that were left.
func (c *corpus) leftOf(s *sequent.Session, log []sequent.Thought, standings []sequent.Standing) []Left {
	idle := s.State() == sequent.Active && !s.Updated().After(c.now.Add(-c.query.Idle))
	if s.State() == sequent.Abandoned || idle {
		return []Left{leftThread(s, "", s.Len(), log, standings)}
	}
	var all []Left
	for _, line := range s.Lines() {
		if line.Label == "" || line.First == 0 || !line.Left || line.Verdict != "" {
			continue // the main line is the session; a verdict says why it was left
		}
		if standings[line.Last-1].State == sequent.Left { // nothing that holds came from its end
			all = append(all, leftThread(s, line.Label, line.Last, log, standings))
		}
	}
	return all
}

// leftThread returns a session, or the thoughts of a branch, as a thread that was left.
func leftThread(s *sequent.Session, branch string, last int, log []sequent.Thought, standings []sequent.Standing) Left {
	l := Left{Title: s.Title(), State: s.State(), Branch: branch}
	for _, t := range slices.Backward(log[:last]) {
		if branch != "" && t.Branch != branch || standings[t.Seq-1].State == sequent.Superseded {
			continue
		}
		if l.Last.Seq == 0 {
			l.Last = cite(s, t, t.Text)
		}
		if question, ok := lastQuestion(t.Text); ok {
			q := cite(s, t, question)
			l.Question = &q
			break
		}
	}
	if l.Last.Seq == 0 { // everything was revised on other lines
		l.Last = cite(s, log[last-1], log[last-1].Text)
	}
	return l
}

// open matches the beginning of a sentence that leaves something open without a question
// mark.
var open = lazyregexp.New(`(?i)^[-*• ]*(open (question|point|item|issue)s?|still (open|unclear|unknown|missing|to (be )?(check|find out|decide|do|test|verif)\w*)|to ?do|not (yet )?(clear|known|checked|tested|decided)|unclear|unknown|next)\b`)

// lastQuestion returns the last question of a text.
func lastQuestion(text string) (string, bool) {
	for _, sentence := range slices.Backward(brief.Sentences(text)) {
		end := strings.TrimRight(sentence, `)"'*_ `)
		if strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？") || open().MatchString(sentence) {
			return sentence, true
		}
	}
	return "", false
}

// left returns the threads that were left.
func (c *corpus) left() []Left {
	var all []Left
	for _, s := range c.sessions {
		for _, l := range s.left {
			if c.about(l.Last.At, s.header.Key) {
				all = append(all, l)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Left) int { return b.Last.At.Compare(a.Last.At) })
	return all
}

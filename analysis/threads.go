package analysis

import (
	"cmp"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// leftOf returns the threads of a session that were left.
func (c *corpus) leftOf(r reading) (all []Finding) {
	if r.State() == sequent.Abandoned || r.State() == sequent.Active && c.engine.Now().Sub(r.Updated()) >= idle {
		return []Finding{r.left(string(r.State()), r.log, func(*sequent.Thought) bool { return true })}
	}
	for _, line := range r.Session.Lines()[1:] { // the main line is the session
		// A verdict says why a line was left. If something that holds came from its end, it was not.
		if line.Verdict == sequent.Undecided && r.Standings[line.Last-1].State.GivenUp() {
			all = append(all, r.left("branch "+line.Label+" has no verdict", r.log[:line.Last],
				func(t *sequent.Thought) bool { return t.Branch == line.Label }))
		}
	}
	return all
}

// left returns thoughts of a session as a thread that was left: the last question that it asked,
// and its last thought that holds.
func (r *reading) left(why string, log []sequent.Thought, on func(*sequent.Thought) bool) Finding {
	last, found := log[len(log)-1], false // if everything was revised on other lines
	f := Finding{Title: titled(r.Title()) + " (" + why + ")"}
	for _, t := range slices.Backward(log) {
		if !on(&t) || r.Standings[t.Seq-1].State == sequent.Superseded {
			continue
		}
		if !found {
			last, found = t, true
		}
		if question := lastQuestion(t.Text); question != "" {
			f.Parts = []Part{{"asked last", r.cite(t.Seq, question)}}
			break
		}
	}
	if len(f.Parts) == 0 || f.Parts[0].Seq != last.Seq {
		f.Parts = append(f.Parts, Part{"stands at", r.cite(last.Seq, last.Text)})
	}
	return f
}

func titled(text string) string { return cmp.Or(text, "(no title)") }

// open matches the beginning of a sentence that leaves something open without a question
// mark.
var open = lazyregexp.New(`(?i)^[-*• ]*(open (question|point|item|issue)s?|still (open|unclear|unknown|missing|to (be )?(check|find out|decide|do|test|verif)\w*)|to ?do|not (yet )?(clear|known|checked|tested|decided)|unclear|unknown|next)\b`)

// lastQuestion returns the last question of a text, or "".
func lastQuestion(text string) string {
	for _, sentence := range slices.Backward(brief.Sentences(text)) {
		if brief.Asks(sentence) || open().MatchString(sentence) {
			return sentence
		}
	}
	return ""
}

// changedIn returns the conclusions that a session, its notes or its decisions revise or
// reject.
func changedIn(r reading) (all []Finding) {
	for _, t := range r.log {
		if !t.Final { // no conclusion
			continue
		}
		text := t.Text
		if t.Seq == len(r.log) {
			text = cmp.Or(r.Conclusion(), text)
		}
		var note sequent.Note // the latest judgement of a person
		for _, n := range r.Notes[t.Seq] {
			if n.Kind != sequent.Remark {
				note = n
			}
		}
		var by Part
		switch st, line := r.Standings[t.Seq-1], r.Lines[t.Branch]; {
		case st.State == sequent.Superseded:
			by = Part{revised + " by a later thought", r.cite(st.By, r.log[st.By-1].Text)}
		case line.Verdict == sequent.Rejected && line.By > t.Seq:
			by = Part{rejected + " by a decision", r.cite(line.By, r.log[line.By-1].Text)}
		case note.Kind == sequent.Wrong:
			by = Part{rejected + byNote, r.cite(t.Seq, note.Text)}
			by.At = note.At
		default:
			continue
		}
		all = append(all, changed(r.Title(), r.cite(t.Seq, text), by))
	}
	return all
}

func changed(title string, conclusion Cite, by Part) Finding {
	return Finding{titled(title), []Part{{"concluded", conclusion}, by}}
}

// A mention is a sentence that judges another session.
type mention struct {
	target int  // index in corpus.sessions
	by     Part // says "revised by a later session" or "rejected by a person"
}

// judged returns the conclusions of other sessions that a session revises or rejects later, each once.
func (c *corpus) judged(s *session) (all []Finding) {
	said := make(map[int]bool)
	for _, m := range slices.Backward(s.mentions) {
		old := c.sessions[m.target]
		if !said[m.target] && !old.concluded.IsZero() && m.by.At.After(old.concluded) {
			said[m.target] = true
			all = append(all, changed(old.header.Title, old.end, m.by))
		}
	}
	return all
}

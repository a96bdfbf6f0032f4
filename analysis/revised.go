package analysis

import (
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
)

// A mention is a sentence that judges another session.
type mention struct {
	target int  // index in corpus.sessions
	by     Part // says "revised by a later session" or "rejected by a person"
}

// changedIn returns the conclusions that a session, its notes or its decisions revise or
// reject.
func changedIn(s *sequent.Session, log []sequent.Thought, standings []sequent.Standing) (all []Finding) {
	lines := s.Lines()
	for _, t := range log {
		if !t.Final { // no conclusion
			continue
		}
		text := t.Text
		if t.Seq == len(log) && s.Conclusion() != "" {
			text = s.Conclusion()
		}
		line := lines[slices.IndexFunc(lines, func(l sequent.Line) bool { return l.Label == t.Branch })]
		var by Part
		switch st, note := standings[t.Seq-1], dispute(s, t.Seq); {
		case st.State == sequent.Superseded:
			by = Part{revised + " by a later thought", cite(s, log[st.By-1], log[st.By-1].Text)}
		case line.Verdict == sequent.Rejected && line.By > t.Seq:
			by = Part{rejected + " by a decision", cite(s, log[line.By-1], log[line.By-1].Text)}
		case note.Kind == sequent.Wrong:
			by = Part{rejected + byNote, cite(s, t, note.Text)}
			by.At = note.At
		default:
			continue
		}
		all = append(all, changed(s.Title(), cite(s, t, text), by))
	}
	return all
}

// unclearIn returns what a session shows and its author may have missed.
func unclearIn(s *sequent.Session, log []sequent.Thought) (all []Finding) {
	texts := findings.Texts(s)
	for _, t := range log {
		for _, text := range texts[t.Seq] {
			all = append(all, Finding{Title: text, Parts: []Part{{"said", cite(s, t, t.Text)}}, at: t.At})
		}
	}
	return all
}

func changed(title string, conclusion Cite, by Part) Finding {
	return Finding{Title: titled(title), Parts: []Part{{"concluded", conclusion}, by}, at: by.At}
}

// dispute returns the latest judgement of a person about a thought; its kind is empty for a thought
// that was not judged.
func dispute(s *sequent.Session, seq int) (latest sequent.Note) {
	for _, n := range s.Notes() {
		if n.Seq == seq && n.Kind != sequent.Remark {
			latest = n
		}
	}
	return latest
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

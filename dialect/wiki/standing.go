package wiki

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// standings says of each thought why it no longer holds; nothing of one that does.
func standings(s *sequent.Session) []string {
	list := s.Standings()
	marks := make([]string, len(list))
	for i, st := range list {
		switch st.State {
		case sequent.Superseded:
			by, _ := s.At(st.By)
			marks[i] = "superseded by " + brief.Name(by)
		case sequent.OnRejected, sequent.OnUndecided:
			marks[i] = "on a branch that is " + string(st.State)
		case sequent.Disputed:
			marks[i] = "a person says that it is wrong"
		}
	}
	return marks
}

// marked returns the body of a session's note with a mark at each thought that no longer
// holds.
func marked(body string, s *sequent.Session) string {
	marks := standings(s)
	var b strings.Builder
	at := 0
	for _, p := range thinking.Sections(body) {
		if p.Seq >= 1 && p.Seq <= len(marks) && marks[p.Seq-1] != "" {
			fmt.Fprintf(&b, "%s\n⚠️ %s\n", body[at:p.Heading], marks[p.Seq-1])
			at = p.Heading
		}
	}
	return b.String() + body[at:]
}

// thoughts returns the thoughts with a number, as the log has them.
func thoughts(s *sequent.Session, number int) (string, error) {
	marks := standings(s)
	var found []string
	for t := range s.All() {
		if t.Number != number {
			continue
		}
		text := strings.TrimSpace(thinking.Text(s, t))
		if m := marks[t.Seq-1]; m != "" {
			text += "\n\n⚠️ " + m
		}
		found = append(found, text)
	}
	if len(found) == 0 {
		return "", &refusal{"THOUGHT_NOT_FOUND", fmt.Sprintf("the session has no thought %d; read it without section", number)}
	}
	return strings.Join(found, "\n\n"), nil
}

// matching returns an excerpt of the first thought of a session that matches and still
// holds, else of the first one that matches, with a mark; empty if none does.
func matching(s *sequent.Session, query string) string {
	marks := standings(s)
	superseded := ""
	for t := range s.All() {
		mark := marks[t.Seq-1]
		if mark != "" && superseded != "" {
			continue
		}
		piece, ok := index.Excerpt(t.Text, query)
		if !ok {
			piece, ok = index.Excerpt(t.Note, query)
		}
		switch {
		case ok && mark == "":
			return fmt.Sprintf("Thought %s: %s", brief.Name(t), piece)
		case ok:
			superseded = fmt.Sprintf("Thought %s (%s): %s", brief.Name(t), mark, piece)
		}
	}
	return superseded
}

// stateOf returns the state of a session as replies name it.
func stateOf(s *sequent.Session) string {
	if s.State() == sequent.Active {
		return "in_progress"
	}
	return string(s.State())
}

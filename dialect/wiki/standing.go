package wiki

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// standings says of each thought why it no longer holds; nothing of one that does.
func standings(s *sequent.Session) []string {
	list := s.Standings()
	marks := make([]string, len(list))
	for i, st := range list {
		switch st.State {
		case sequent.Superseded:
			by, _ := s.At(st.By)
			marks[i] = fmt.Sprintf("superseded by thought %s", nameOf(by))
		case sequent.OnRejected, sequent.OnUndecided:
			marks[i] = "on a branch that is " + string(st.State)
		case sequent.Disputed:
			marks[i] = "a person says that it is wrong"
		}
	}
	return marks
}

// nameOf names a thought: its number, and its branch unless that is the main line.
func nameOf(t sequent.Thought) string {
	if t.Branch == "" {
		return fmt.Sprint(t.Number)
	}
	return fmt.Sprintf("%d on branch %s", t.Number, oneLine(t.Branch))
}

// stateOf returns the state of a session as replies name it.
func stateOf(s *sequent.Session) string {
	if s.State() == sequent.Active {
		return inProgress
	}
	return string(s.State())
}

// summary says how far a session is.
func summary(s *sequent.Session) string {
	text := fmt.Sprintf("%s, %s", stateOf(s), printable.Count(s.Len(), "thought", "thoughts"))
	if f := s.Fault(); f != nil {
		text += "; not what was recorded: " + f.String()
	}
	lost := 0
	for _, m := range standings(s) {
		if m != "" {
			lost++
		}
	}
	if lost > 0 {
		text += fmt.Sprintf(", %d of them no longer hold", lost)
	}
	if len(s.Branches()) > 0 {
		text += "; " + branches(s)
	}
	return text
}

// branches names the branches of a session with their last thoughts.
func branches(s *sequent.Session) string {
	const most = 8
	var names []string
	for _, b := range s.Branches() {
		if t, ok := s.End(b); ok {
			names = append(names, fmt.Sprintf("%s (to thought %d)", oneLine(b), t.Number))
		}
	}
	return "branches: " + list(names, most)
}

// list lists the first names, and how many more there are.
func list(names []string, most int) string {
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

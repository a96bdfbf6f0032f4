package draw

import "github.com/sequent-dev/sequent"

// Noted returns what a person said about a thought, for people.
func Noted(n sequent.Note) string {
	from := n.From
	if from == "" {
		from = "a person"
	}
	said := from
	switch n.Kind {
	case sequent.Wrong:
		said = "wrong (" + from + ")"
	case sequent.Approval:
		said = "approved (" + from + ")"
	}
	if n.Text != "" {
		said += ": " + n.Text
	}
	return said
}

// notesOf returns the notes of a session by the thoughts that they are about.
func notesOf(s *sequent.Session) map[int][]sequent.Note {
	notes := make(map[int][]sequent.Note)
	for _, n := range s.Notes() {
		notes[n.Seq] = append(notes[n.Seq], n)
	}
	return notes
}

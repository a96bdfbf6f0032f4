package thinking

// A Section is a thought, with its conclusion, in the body of a session's note.
type Section struct {
	Seq        int // position in the log; 0 if the note does not tell
	Number     int // the author's
	Start, End int // offsets in the body, of the heading and after the last line
	Heading    int // offset after the line of the heading
}

// Sections returns the thoughts in the body of a session's note, in the order of the note.
// A conclusion is part of the section before it.
func Sections(body string) []Section {
	list := parse(body)
	assignPositions(list)
	out := make([]Section, len(list))
	for i, s := range list {
		out[i] = Section{Seq: s.Seq, Number: s.Draft.Number, Start: s.start, End: s.end, Heading: len(body)}
		for j := s.start; j < len(body); j++ {
			if body[j] == '\n' {
				out[i].Heading = j + 1
				break
			}
		}
		if s.concluded && i+1 < len(list) {
			out[i].End = list[i+1].start
		} else if s.concluded {
			out[i].End = len(body)
		}
	}
	return out
}

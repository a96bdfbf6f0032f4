package sequent

import "slices"

// A Line is the main line of a session or one of its branches; see [Session].
type Line struct {
	Label   string  // empty for the main line
	Origin  int     // Seq of the thought at which it leaves another line; 0 for none
	First   int     // Seq of its first thought; 0 for a main line without thoughts
	Last    int     // Seq of its last thought
	Verdict Verdict // of the latest decision about it; empty if there is none
	By      int     // Seq of the thought with that decision
	// Left means that the line was given up: it was rejected, or the session was completed
	// on another line without choosing this one.
	Left bool
}

// Lines returns the main line and then the branches in order of first use.
func (s *Session) Lines() []Line {
	l, n := s.read()
	defer l.mu.RUnlock()
	return s.lines(l, n)
}

// lines is Lines for a caller that holds l.mu.
func (s *Session) lines(l *ledger, n int) []Line {
	branches := l.branches(n)
	lines := make([]Line, 0, 1+len(branches))
	for at := range 1 + len(branches) {
		ln := l.lines[at]
		for ln.last > n {
			ln.last = int(l.record(ln.last).previous)
		}
		lines = append(lines, Line{Label: ln.label, Origin: ln.origin, First: ln.first, Last: ln.last})
	}
	final := -1 // the line on which the session was completed
	if s.header.State == Completed && n > 0 {
		final = int(l.record(n).line)
	}
	for _, d := range s.marksOrNone().decisions {
		if at, ok := l.lineIndex(d.Line); ok && at < len(lines) {
			lines[at].Verdict, lines[at].By = d.Verdict, d.Seq
		}
	}
	for at := range lines {
		ln := &lines[at]
		ln.Left = ln.Verdict == Rejected || final >= 0 && at != final && ln.Verdict != Chosen
	}
	return lines
}

func (s *Session) marksOrNone() *marks {
	if s.marks == nil {
		return new(marks)
	}
	return s.marks
}

// A StandingState says whether a thought still holds.
type StandingState string

// The states of a thought.
const (
	Current    StandingState = "current"
	Superseded StandingState = "superseded" // a revision has replaced it
	Left       StandingState = "left"       // it is on a line that was left
	Disputed   StandingState = "disputed"   // a person says that it is wrong
	Concluded  StandingState = "concluded"  // it completed the session
)

// A Standing says whether a thought still holds, as far as the log tells.
type Standing struct {
	State StandingState
	By    int // Seq of the thought that holds instead, if State is Superseded; otherwise 0
}

// Standings returns the standing of each thought of the log, in the order of Seq. Its
// cost is proportional to the length of the log.
//
// If several states apply, the first of superseded, left, disputed and concluded counts.
// A revision replaces a thought of another line only if its own line was chosen or the
// session was completed there. Thoughts of a line that was left still hold where a line
// that was not left has come from them. A dispute ends with a revision or an approval.
func (s *Session) Standings() []Standing {
	l, n := s.read()
	defer l.mu.RUnlock()
	lines := s.lines(l, n)
	reach := reaches(l, lines)
	wins := func(at int) bool { // its revisions replace thoughts of other lines
		return lines[at].Verdict == Chosen || s.header.State == Completed && at == int(l.record(n).line)
	}

	standings := make([]Standing, n)
	by := make([]int, n+1) // Seq of the latest revision
	for seq := 1; seq <= n; seq++ {
		r := l.record(seq)
		if old := int(r.supersedes); old > 0 && (l.record(old).line == r.line || wins(int(r.line))) {
			by[old] = seq
		}
	}
	wrong := make(map[int]bool)
	for _, note := range s.marksOrNone().notes {
		switch note.Kind {
		case Wrong:
			wrong[note.Seq] = true
		case Approval:
			delete(wrong, note.Seq)
		}
	}
	for seq := n; seq >= 1; seq-- { // a revision comes after what it replaces
		r, st := l.record(seq), &standings[seq-1]
		at := int(r.line)
		switch {
		case by[seq] > 0:
			*st = Standing{State: Superseded, By: by[seq]}
			if later := standings[by[seq]-1]; later.State == Superseded {
				st.By = later.By
			}
		case lines[at].Left && seq > reach[at]:
			st.State = Left
		case wrong[seq]:
			st.State = Disputed
		case seq == n && s.header.State == Completed:
			st.State = Concluded
		default:
			st.State = Current
		}
	}
	return standings
}

// reaches returns, for each line, the Seq of its last thought from which a line has
// come that was not left; 0 if there is none. The caller holds l.mu.
func reaches(l *ledger, lines []Line) []int {
	reach := make([]int, len(lines))
	for at := range slices.Backward(lines) { // a branch comes after the line that it leaves
		origin := lines[at].Origin
		if origin == 0 {
			continue
		}
		if !lines[at].Left || reach[at] > 0 {
			from := int(l.record(origin).line)
			reach[from] = max(reach[from], origin)
		}
	}
	return reach
}

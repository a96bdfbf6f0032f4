package sequent

import (
	"cmp"
	"slices"
	"time"
)

// A Line is the main line of a session or one of its branches; see [Session].
type Line struct {
	Label  string `json:"name"`             // empty for the main line
	Origin int    `json:"origin,omitempty"` // Seq of the thought at which it leaves another line; 0 for none
	First  int    `json:"first"`            // Seq of its first thought; 0 for a main line without thoughts
	Last   int    `json:"last"`             // Seq of its last thought
	// Verdict is that of the latest decision about the line. Without a decision it is
	// Undecided if the session was completed on another line, otherwise empty.
	Verdict Verdict `json:"verdict,omitempty"`
	By      int     `json:"by,omitempty"` // Seq of the thought with that decision; 0 without one
}

// GivenUp reports whether the line ended without being chosen: it is rejected or undecided.
func (l Line) GivenUp() bool { return l.Verdict == Rejected || l.Verdict == Undecided }

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
		lines = append(lines, Line{Label: ln.label, Origin: ln.origin, First: ln.first, Last: l.lastOf(ln, n)})
	}
	final := -1 // the line on which the session was completed
	if s.header.State == Completed && n > 0 {
		final = l.links[n-1].line
	}
	for _, d := range s.decisions {
		if at, ok := l.lineIndex(d.Line); ok && at < len(lines) {
			lines[at].Verdict, lines[at].By = d.Verdict, d.Seq
		}
	}
	for at := range lines {
		if lines[at].Verdict == "" && final >= 0 && at != final {
			lines[at].Verdict = Undecided
		}
	}
	return lines
}

// A StandingState says whether a thought still holds.
type StandingState string

// The states of a thought.
const (
	Current     StandingState = "current"
	Superseded  StandingState = "superseded" // a revision has replaced it
	OnRejected  StandingState = "rejected"   // it is on a line that was rejected
	OnUndecided StandingState = "undecided"  // it is on a line that is undecided
	Disputed    StandingState = "disputed"   // a person says that it is wrong
	Concluded   StandingState = "concluded"  // it completed the session
)

// GivenUp reports whether the thought is on a line that was given up; see [Line.GivenUp].
func (s StandingState) GivenUp() bool { return s == OnRejected || s == OnUndecided }

// A Standing says whether a thought still holds, as far as the log tells.
type Standing struct {
	State StandingState
	By    int // Seq of the thought that holds instead, if State is Superseded; otherwise 0
}

// Standings returns the standing of each thought of the log, in the order of Seq. Its
// cost is proportional to the length of the log.
//
// If several states apply, the first of superseded, rejected or undecided, disputed and
// concluded counts.
// A revision replaces a thought of another line only if its own line was chosen or the
// session was completed there. Thoughts of a line that was given up still hold where a line
// that was not given up has come from them. A dispute ends with a revision or an approval.
func (s *Session) Standings() []Standing {
	l, n := s.read()
	defer l.mu.RUnlock()
	lines := s.lines(l, n)
	reach := reaches(l, lines)
	wins := func(at int) bool { // its revisions replace thoughts of other lines
		return lines[at].Verdict == Chosen || s.header.State == Completed && at == l.links[n-1].line
	}

	standings := make([]Standing, n)
	by := make([]int, n+1) // Seq of the latest revision
	for seq := 1; seq <= n; seq++ {
		at := l.links[seq-1].line
		if old := l.thoughts[seq-1].Supersedes; old > 0 && (l.links[old-1].line == at || wins(at)) {
			by[old] = seq
		}
	}
	wrong := make(map[int]bool)
	for _, note := range s.notes {
		switch note.Kind {
		case Wrong:
			wrong[note.Seq] = true
		case Approval:
			delete(wrong, note.Seq)
		}
	}
	for seq := n; seq >= 1; seq-- { // a revision comes after what it replaces
		st, at := &standings[seq-1], l.links[seq-1].line
		switch {
		case by[seq] > 0:
			*st = Standing{State: Superseded, By: by[seq]}
			if later := standings[by[seq]-1]; later.State == Superseded {
				st.By = later.By
			}
		case lines[at].GivenUp() && seq > reach[at]:
			st.State = StandingState(lines[at].Verdict)
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
// come that was not given up; 0 if there is none. The caller holds l.mu.
func reaches(l *ledger, lines []Line) []int {
	reach := make([]int, len(lines))
	for at := range slices.Backward(lines) { // a branch comes after the line that it leaves
		origin := lines[at].Origin
		if origin == 0 {
			continue
		}
		if !lines[at].GivenUp() || reach[at] > 0 {
			from := l.links[origin-1].line
			reach[from] = max(reach[from], origin)
		}
	}
	return reach
}

// A NoteKind is what a note means for its thought.
type NoteKind string

// The kinds of notes.
const (
	Remark   NoteKind = "remark"  // the text only
	Wrong    NoteKind = "wrong"   // the thought does not hold
	Approval NoteKind = "approve" // the thought holds, whatever notes before it said
)

// A Note is what a person says about a thought, or the engine ([FromStore]). It counts in no number, length or
// history of thoughts.
type Note struct {
	Seq   int       `json:"seq"`            // of the thought
	Kind  NoteKind  `json:"kind"`           // Remark if empty
	Text  string    `json:"text,omitempty"` // may be empty unless it is a Remark
	From  string    `json:"from,omitempty"` // the person's name; may be empty
	After int       `json:"-"`              // number of thoughts in the log when the note was recorded; set by the engine
	At    time.Time `json:"at"`
}

// A Verdict is what a decision says about a line.
type Verdict string

// The verdicts. Undecided is that of a [Line], and of no decision.
const (
	Chosen    Verdict = "chosen"
	Rejected  Verdict = "rejected"
	Undecided Verdict = "undecided"
)

// A Decision is the verdict of a thought on one line of the session. The thought's text
// has the reasons.
type Decision struct {
	Seq     int    // of the thought
	Line    string // label of a branch; empty for the main line
	Verdict Verdict
}

func (n *Note) entry() Entry {
	body := Body{"thought": int64(n.Seq), "kind": string(n.Kind)}
	if n.Text != "" {
		body["text"] = n.Text
	}
	if n.From != "" {
		body["from"] = n.From
	}
	return Entry{Kind: KindNote, At: n.At, Body: body}
}

// mark adds the notes and decisions among entries that follow n thoughts. It leaves out what
// no session can have.
func (s *Session) mark(entries []Entry, n int) {
	for i := range entries {
		e := &entries[i]
		seq, _ := e.Body["thought"].(int64)
		known := seq >= 1 && int(seq) <= n
		switch {
		case e.Kind == KindThought:
			n = e.Thought.Seq
		case e.Kind == KindNote && known:
			note := Note{int(seq), NoteKind(e.Body.text("kind")), e.Body.text("text"), e.Body.text("from"), n, e.At}
			if note.valid() {
				s.notes = append(slices.Clip(s.notes), note)
			}
		case e.Kind == KindDecision && known:
			d := Decision{int(seq), e.Body.text("line"), Verdict(e.Body.text("verdict"))}
			if d.Verdict.valid() {
				s.decisions = append(slices.Clip(s.decisions), d)
			}
		}
	}
}

// text returns a field, or "" if it is no text.
func (b Body) text(name string) string {
	text, _ := b[name].(string)
	return text
}

func (n *Note) valid() bool { return n.Kind == Remark || n.Kind == Wrong || n.Kind == Approval }

func (v Verdict) valid() bool { return v == Chosen || v == Rejected }

// AddNote records what a person says about a thought. It refuses a note about a thought
// that does not exist, one that says nothing, and text beyond [Limits.Text]. It does
// not change the state of the session.
func (c *Change) AddNote(n Note) error {
	n.Kind, n.At = cmp.Or(n.Kind, Remark), c.now
	err := first(checkText("text", n.Text, c.limits.Text), checkName("from", n.From, c.limits.Name, CodeInvalidThought))
	length := c.Session().Len()
	switch {
	case err != nil:
	case !n.valid():
		err = Errorf(CodeInvalidThought, "kind", "use remark, wrong or approve", "%q is not a kind of note", n.Kind)
	case n.Kind == Remark && n.Text == "":
		err = Errorf(CodeInvalidThought, "text", "give it a text", "the note is empty")
	case n.Seq < 1 || n.Seq > length:
		err = Errorf(CodeInvalidThought, "seq", "", "the session has no thought at place %d of its log, which has %d", n.Seq, length)
	}
	return c.mark(n.entry(), err)
}

// Decide records that the thought appended last chooses or rejects a line of the
// session; the main line's label is empty. It refuses a line that does not exist.
func (c *Change) Decide(line string, v Verdict) (err error) {
	s := c.Session()
	if _, ok := s.End(line); !ok || !v.valid() {
		err = Errorf(CodeInvalidThought, "line", "name a branch of the session, or the main line",
			"the session has no line %.80q that could be %s", line, v)
	}
	body := Body{"thought": int64(s.Len()), "line": line, "verdict": string(v)}
	return c.mark(Entry{Kind: KindDecision, At: c.now, Body: body}, err)
}

// mark records a note or a decision, unless err refuses it.
func (c *Change) mark(e Entry, err error) error {
	switch {
	case c.session == nil:
		return errChangeOver
	case err != nil:
		return err
	case exceeds(len(c.session.notes)+len(c.session.decisions)+1, c.limits.Thoughts):
		return Errorf(CodeLimitExceeded, "session", "begin another session",
			"the session has %d notes and decisions, the limit", c.limits.Thoughts)
	}
	c.added = append(c.added, e)
	s := c.own()
	if e.Kind == KindNote {
		s.header.Notes++
	}
	s.mark(c.added[len(c.added)-1:], s.Len())
	return nil
}

// Notes returns what people have said about thoughts, in the order of the log.
func (s *Session) Notes() []Note { return slices.Clone(s.notes) }

// Decisions returns the verdicts on lines, in the order of the log. Later ones replace
// earlier ones about the same line.
func (s *Session) Decisions() []Decision { return slices.Clone(s.decisions) }

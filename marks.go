package sequent

import (
	"fmt"
	"slices"
	"time"
)

// A NoteKind is what a note means for its thought.
type NoteKind string

// The kinds of notes.
const (
	Remark   NoteKind = "remark"  // the text only
	Wrong    NoteKind = "wrong"   // the thought does not hold
	Approval NoteKind = "approve" // the thought holds, whatever notes before it said
)

// A Note is what a person says about a thought. It counts in no number, length or
// history of thoughts.
type Note struct {
	Seq   int      // of the thought
	Kind  NoteKind // Remark if empty
	Text  string   // may be empty unless it is a Remark
	From  string   // the person's name; may be empty
	After int      // number of thoughts in the log when the note was recorded; set by the engine
	At    time.Time
}

// A Verdict is what a decision says about a line.
type Verdict string

// The verdicts.
const (
	Chosen   Verdict = "chosen"
	Rejected Verdict = "rejected"
)

// A Decision is the verdict of a thought on one line of the session. The thought's text
// has the reasons.
type Decision struct {
	Seq     int    // of the thought
	Line    string // label of a branch; empty for the main line
	Verdict Verdict
}

// Names of fields in the bodies of entries.
const (
	bodyThought = "thought"
	bodyKind    = "kind"
	bodyText    = "text"
	bodyFrom    = "from"
	bodyLine    = "line"
	bodyVerdict = "verdict"
)

func (n *Note) entry() Entry {
	body := Body{bodyThought: int64(n.Seq), bodyKind: string(n.Kind)}
	if n.Text != "" {
		body[bodyText] = n.Text
	}
	if n.From != "" {
		body[bodyFrom] = n.From
	}
	return Entry{Kind: KindNote, At: n.At, Body: body}
}

func (d *Decision) entry(at time.Time) Entry {
	return Entry{Kind: KindDecision, At: at, Body: Body{
		bodyThought: int64(d.Seq), bodyLine: d.Line, bodyVerdict: string(d.Verdict),
	}}
}

// Marks are the notes and decisions of a session. They never change: with returns
// others. Nil has none.
type marks struct {
	notes     []Note
	decisions []Decision
}

// with returns the marks with those among the entries that follow n thoughts. It leaves
// out what no session can have.
func (m *marks) with(entries []Entry, n int) *marks {
	for i := range entries {
		e := &entries[i]
		switch e.Kind {
		case KindThought:
			n = e.Thought.Seq
		case KindNote:
			if note, ok := parseNote(e, n); ok {
				m = m.withNote(note)
			}
		case KindDecision:
			if d, ok := parseDecision(e, n); ok {
				m = m.withDecision(d)
			}
		}
	}
	return m
}

func (m *marks) withNote(n Note) *marks {
	next := m.copy()
	next.notes = append(slices.Clip(next.notes), n)
	return next
}

func (m *marks) withDecision(d Decision) *marks {
	next := m.copy()
	next.decisions = append(slices.Clip(next.decisions), d)
	return next
}

func (m *marks) copy() *marks {
	if m == nil {
		return new(marks)
	}
	return new(*m)
}

// upto returns the marks as they were when the session got its thought n+1.
func (m *marks) upto(n int) *marks {
	if m == nil {
		return nil
	}
	return &marks{
		notes:     m.notes[:before(m.notes, func(o Note) bool { return o.After < n })],
		decisions: m.decisions[:before(m.decisions, func(d Decision) bool { return d.Seq <= n })],
	}
}

// before returns the number of elements at the beginning of a list for which was is
// true.
func before[T any](list []T, was func(T) bool) int {
	if i := slices.IndexFunc(list, func(v T) bool { return !was(v) }); i >= 0 {
		return i
	}
	return len(list)
}

// parseNote returns the note of an entry that follows n thoughts.
func parseNote(e *Entry, n int) (note Note, ok bool) {
	seq, ok := e.Body[bodyThought].(int64)
	kind, _ := e.Body[bodyKind].(string)
	note = Note{Seq: int(seq), Kind: NoteKind(kind), After: n, At: e.At}
	note.Text, _ = e.Body[bodyText].(string)
	note.From, _ = e.Body[bodyFrom].(string)
	return note, ok && note.Seq >= 1 && note.Seq <= n && note.valid()
}

// parseDecision returns the decision of an entry that follows n thoughts.
func parseDecision(e *Entry, n int) (d Decision, ok bool) {
	seq, ok := e.Body[bodyThought].(int64)
	verdict, _ := e.Body[bodyVerdict].(string)
	d = Decision{Seq: int(seq), Verdict: Verdict(verdict)}
	d.Line, _ = e.Body[bodyLine].(string)
	return d, ok && d.Seq >= 1 && d.Seq <= n && d.Verdict.valid()
}

func (n *Note) valid() bool {
	return n.Kind == Remark || n.Kind == Wrong || n.Kind == Approval
}

func (v Verdict) valid() bool { return v == Chosen || v == Rejected }

// AddNote records what a person says about a thought. It refuses a note about a thought
// that does not exist, one that says nothing, and text beyond [Limits.Text]. It does
// not change the state of the session.
func (c *Change) AddNote(n Note) error {
	if c.ledger == nil {
		return errChangeOver
	}
	if n.Kind == "" {
		n.Kind = Remark
	}
	if err := checkText("text", n.Text, c.limits.Text); err != nil {
		return err
	}
	if err := checkName("from", n.From, c.limits.Name, CodeInvalidThought); err != nil {
		return err
	}
	switch {
	case !n.valid():
		return &Error{
			Code: CodeInvalidThought, Field: "kind",
			Msg: fmt.Sprintf("%q is not a kind of note", n.Kind), Fix: "use remark, wrong or approve",
		}
	case n.Kind == Remark && n.Text == "":
		return &Error{Code: CodeInvalidThought, Field: "text", Msg: "the note is empty", Fix: "give it a text"}
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.session == nil {
		return errChangeOver
	}
	known := c.session.known
	if err := c.checkMarks(); err != nil {
		return err
	}
	if n.Seq < 1 || n.Seq > known {
		return &Error{
			Code: CodeInvalidThought, Field: "seq",
			Msg: fmt.Sprintf("the session has no thought at place %d of its log, which has %d", n.Seq, known),
		}
	}
	n.After, n.At = known, c.now
	c.mark(n.entry())
	s := c.write()
	s.marks = s.marks.withNote(n)
	return nil
}

// Decide records that the thought appended last chooses or rejects a line of the
// session; the main line's label is empty. It refuses a line that does not exist.
func (c *Change) Decide(line string, v Verdict) error {
	if c.ledger == nil {
		return errChangeOver
	}
	c.ledger.mu.Lock()
	defer c.ledger.mu.Unlock()
	if c.session == nil {
		return errChangeOver
	}
	known := c.session.known
	if err := c.checkMarks(); err != nil {
		return err
	}
	if _, _, ok := c.ledger.lineAt(line, known); !ok || !v.valid() {
		return &Error{
			Code: CodeInvalidThought, Field: "line",
			Msg: fmt.Sprintf("the session has no line %.80q that could be %s", line, v),
			Fix: "name a branch of the session, or the main line",
		}
	}
	d := Decision{Seq: known, Line: line, Verdict: v}
	c.mark(d.entry(c.now))
	s := c.write()
	s.marks = s.marks.withDecision(d)
	return nil
}

// checkMarks refuses another note or decision of a session that has too many.
func (c *Change) checkMarks() error {
	m := c.session.marksOrNone()
	if !exceeds(len(m.notes)+len(m.decisions)+1, c.limits.Thoughts) {
		return nil
	}
	return &Error{
		Code: CodeLimitExceeded, Field: "session",
		Msg: fmt.Sprintf("the session has %d notes and decisions, the limit", c.limits.Thoughts),
		Fix: "begin another session",
	}
}

// mark adds an entry that is not a thought to what the change records. The caller holds
// ledger.mu.
func (c *Change) mark(e Entry) {
	c.marked = append(c.marked, marked{e, c.session.known})
}

// A marked is an entry that a change records after a number of thoughts.
type marked struct {
	Entry
	after int
}

// Notes returns what people have said about thoughts, in the order of the log.
func (s *Session) Notes() []Note {
	if s.marks == nil {
		return nil
	}
	return slices.Clone(s.marks.notes)
}

// Decisions returns the verdicts on lines, in the order of the log. Later ones replace
// earlier ones about the same line.
func (s *Session) Decisions() []Decision {
	if s.marks == nil {
		return nil
	}
	return slices.Clone(s.marks.decisions)
}

package sequent

import (
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"
	"unicode/utf8"
)

// A Session is one chain of thought: a header and an append-only log.
//
// A Session is a snapshot: it never changes, and all its methods may be called
// concurrently. The exception is the Session given to a change function (see
// [Engine.Update]), whose Append and setters record the change; it is of no
// use after the function has returned.
//
// The log consists of lines. The main line has the empty label; a branch has
// the label that its thoughts carry in [Draft.Branch], and leaves its parent
// line at the thought that its first one follows.
type Session struct {
	Header
	ledger *ledger
	write  *writing // nil in a snapshot
}

// A writing is what a change function needs beside the session.
type writing struct {
	limits Limits
	now    time.Time
	dirty  bool
	expiry bool // ExpireAt was called
}

// All yields the log in the order of Seq.
func (s *Session) All() iter.Seq[Thought] { return s.Since(0) }

// Since yields the thoughts after seq. It costs as much as it yields.
func (s *Session) Since(seq int) iter.Seq[Thought] {
	return func(yield func(Thought) bool) {
		// What is in the pages below Len stays as it is, so no lock is held
		// while the caller does what it likes.
		s.ledger.mu.RLock()
		log := s.ledger.log
		s.ledger.mu.RUnlock()
		log.slice(max(seq, 0), s.Len)(yield)
	}
}

// At returns the thought at a position of the log.
func (s *Session) At(seq int) (Thought, bool) {
	if seq < 1 || seq > s.Len {
		return Thought{}, false
	}
	s.ledger.mu.RLock()
	defer s.ledger.mu.RUnlock()
	return s.ledger.at(seq)
}

// Last returns the thought that was recorded last, on whatever line.
func (s *Session) Last() (Thought, bool) { return s.At(s.Len) }

// Upto returns the snapshot as it was after its first n thoughts. Its state is
// what those thoughts say; other parts of the header are today's.
func (s *Session) Upto(n int) *Session {
	old := &Session{Header: s.Header, ledger: s.ledger}
	old.Len = min(max(n, 0), s.Len)
	if t, ok := old.Last(); ok {
		old.State = stateAfter(t.Draft)
	}
	return old
}

// Branches returns the labels of the branches in order of first use.
func (s *Session) Branches() []string {
	s.ledger.mu.RLock()
	defer s.ledger.mu.RUnlock()
	labels := make([]string, 0, len(s.ledger.lines)-1)
	for _, ln := range s.ledger.lines[1:] {
		if ln.first > s.Len {
			break
		}
		labels = append(labels, ln.label)
	}
	return labels
}

// End returns the last thought of a line; the main line's label is empty.
func (s *Session) End(branch string) (Thought, bool) {
	s.ledger.mu.RLock()
	defer s.ledger.mu.RUnlock()
	ln, _, ok := s.ledger.lineAt(branch, s.Len)
	if !ok {
		return Thought{}, false
	}
	return s.ledger.thought(ln.last), true
}

// Origin returns the thought at which a branch leaves its parent line. It
// reports false for the main line, an unknown branch, and a branch that leaves
// at no recorded thought.
func (s *Session) Origin(branch string) (Thought, bool) {
	s.ledger.mu.RLock()
	defer s.ledger.mu.RUnlock()
	ln, _, ok := s.ledger.lineAt(branch, s.Len)
	if !ok || ln.origin == 0 {
		return Thought{}, false
	}
	return s.ledger.thought(ln.origin), true
}

// NextNumber returns the number that follows the largest one on the path that
// leads to the end of a line: 1 for a line without thoughts.
func (s *Session) NextNumber(branch string) int {
	t, ok := s.End(branch)
	if !ok {
		return 1
	}
	return s.highest(t.Seq) + 1
}

// NumberAfter returns the number that follows the largest one on the path that
// leads to thought seq.
func (s *Session) NumberAfter(seq int) int {
	if seq < 1 || seq > s.Len {
		return 1
	}
	return s.highest(seq) + 1
}

func (s *Session) highest(seq int) int {
	s.ledger.mu.RLock()
	defer s.ledger.mu.RUnlock()
	return s.ledger.seq(seq).highest
}

// Find returns the latest thought with the given number on the path that leads
// to the end of a line.
func (s *Session) Find(branch string, number int) (Thought, bool) {
	s.ledger.mu.RLock()
	defer s.ledger.mu.RUnlock()
	_, at, ok := s.ledger.lineAt(branch, s.Len)
	if !ok {
		return Thought{}, false
	}
	return s.ledger.at(s.ledger.resolve(at, number, s.Len))
}

// FindOrigin returns the thought that an author means who opens a branch at
// the given number: on the line that was used last, else on the main line,
// else the latest with that number anywhere.
func (s *Session) FindOrigin(number int) (Thought, bool) {
	s.ledger.mu.RLock()
	defer s.ledger.mu.RUnlock()
	return s.ledger.at(s.ledger.origin(number, s.Len))
}

// Recorded returns the thought that was appended with the given request key.
func (s *Session) Recorded(key string) (Thought, bool) {
	s.ledger.mu.RLock()
	defer s.ledger.mu.RUnlock()
	seq := s.ledger.byKey[key]
	if key == "" || seq > s.Len {
		return Thought{}, false
	}
	return s.ledger.at(seq)
}

// Append records a thought. It refuses text and names beyond the limits, and a
// request key that the session has seen. It resolves references as far as they
// can be, and accepts those that cannot: whether they must exist is the rule
// of a dialect, which checks with Find and FindOrigin first.
//
// The session becomes Active or Completed as d.More says.
func (s *Session) Append(d Draft) (Thought, error) {
	if s.write == nil {
		return Thought{}, errSnapshot
	}
	if err := s.check(d); err != nil {
		return Thought{}, err
	}
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	t := Thought{Draft: d, Seq: s.Len + 1, At: s.write.now}
	ln, at, ok := l.lineAt(d.Branch, s.Len)
	switch from, named := d.From.Number(); {
	case ok:
		t.After = ln.last
	case d.Branch == "":
		at = 0
	case exceeds(len(l.lines), s.write.limits.Branches):
		return Thought{}, &Error{
			Code: CodeLimitExceeded, Field: "branch",
			Msg: fmt.Sprintf("the session has %d branches, the limit", len(l.lines)-1),
			Fix: "continue one of them, or begin another session",
		}
	case named:
		t.After = l.origin(from, s.Len)
	default:
		t.After = s.Len
	}
	if number, named := d.Revises.Number(); named {
		if !ok && t.After > 0 { // a new branch: what it sees ends at its origin
			t.Supersedes = l.resolve(int(l.seq(t.After).line), number, t.After)
		} else if ok {
			t.Supersedes = l.resolve(at, number, s.Len)
		}
	}
	l.push(t)
	s.Len++
	s.State = stateAfter(d)
	if s.Title == "" {
		s.Title = title(d.Text)
	}
	s.write.dirty = true
	return t, nil
}

func (s *Session) check(d Draft) error {
	limits := s.write.limits
	if exceeds(s.Len+1, limits.Thoughts) {
		return &Error{
			Code: CodeLimitExceeded, Field: "thought",
			Msg: fmt.Sprintf("the session has %d thoughts, the limit", s.Len),
			Fix: "begin another session",
		}
	}
	if err := checkText("text", d.Text, limits.Text); err != nil {
		return err
	}
	if err := checkText("note", d.Note, limits.Text); err != nil {
		return err
	}
	if err := checkName("branch", d.Branch, limits.Name, CodeInvalidThought); err != nil {
		return err
	}
	if err := checkName("requestKey", d.Request.Key, limits.Name, CodeInvalidThought); err != nil {
		return err
	}
	if _, used := s.Recorded(d.Request.Key); used {
		return &Error{
			Code: CodeRequestKeyReused, Field: "requestKey",
			Msg: "this session has a thought with that request key already",
			Fix: "use a new key for a new thought",
		}
	}
	return nil
}

// SetState says whether the session is open, completed or cancelled.
func (s *Session) SetState(state State) {
	s.set(func() { s.State = state })
}

// SetTitle titles the session with the first line of a text, shortened. Without it
// the first thought does.
func (s *Session) SetTitle(text string) {
	s.set(func() { s.Title = title(text) })
}

// Conclude records what the author concluded.
func (s *Session) Conclude(text string) {
	s.set(func() { s.Conclusion = text })
}

// SetLabel records a value that only one dialect knows the meaning of. An
// empty value removes the label.
func (s *Session) SetLabel(key, value string) {
	s.set(func() {
		labels := maps.Clone(s.Labels)
		if labels == nil {
			labels = make(map[string]string)
		}
		if value == "" {
			delete(labels, key)
		} else {
			labels[key] = value
		}
		s.Labels = labels
	})
}

// BeginIn says in which scope and dialect the session was begun, in the change
// function of the call that begins it.
func (s *Session) BeginIn(scope, dialect string) {
	s.set(func() { s.Scope, s.Dialect = scope, dialect })
}

// ExpireAt says when the session may be forgotten; the zero time means never.
// It holds until the next change, where there is a [Config.TTL] for those that
// do not say.
func (s *Session) ExpireAt(at time.Time) {
	s.set(func() { s.Expires, s.write.expiry = precise(at), true })
}

func (s *Session) set(change func()) {
	if s.write == nil {
		panic("sequent: a snapshot is changed outside a change function")
	}
	change()
	s.write.dirty = true
}

var errSnapshot = &Error{
	Code: CodeInternal,
	Msg:  "a thought was appended to a snapshot, outside a change function",
}

func stateAfter(d Draft) State {
	if d.More {
		return Active
	}
	return Completed
}

// title returns the first line of a text, shortened for a listing.
func title(text string) string {
	const most = 80
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:most-1])) + "…"
}

// precise is a time as every store can keep it.
func precise(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

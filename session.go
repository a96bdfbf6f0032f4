package sequent

import (
	"iter"
	"maps"
	"strings"
	"time"
	"unicode/utf8"
)

// A Session is a snapshot of one chain of thought: a header and an append-only
// log. It never changes, and all its methods may be called concurrently. The
// zero Session has no thoughts.
//
// The log consists of lines. The main line has the empty label; a branch has
// the label that its thoughts carry in [Draft.Branch], and leaves its parent
// line at the thought that its first one follows.
type Session struct {
	header Header
	ledger *ledger // nil in the zero Session
	known  int     // thoughts of the ledger that the session has; see ledger.handedOut
	marks  *marks  // nil if there are none
}

// snapshot returns the session with a committed header and marks, whose thoughts are in
// l.
func snapshot(h Header, l *ledger, m *marks) *Session {
	return &Session{header: h, ledger: l, known: h.Len, marks: m}
}

// Header returns a copy of the session's header.
func (s *Session) Header() Header {
	h := s.header
	h.Labels = maps.Clone(h.Labels)
	return h
}

// Key returns the session's owner and ID.
func (s *Session) Key() Key { return s.header.Key }

// Owner returns the owner of the session. The local user's is empty.
func (s *Session) Owner() string { return s.header.Owner }

// ID returns the name of the session among those of its owner.
func (s *Session) ID() ID { return s.header.ID }

// Epoch returns [Header.Epoch].
func (s *Session) Epoch() int64 { return s.header.Epoch }

// Version returns the number of changes that led to the snapshot.
func (s *Session) Version() int { return s.header.Version }

// Position returns the position of the snapshot, for [Engine.Position].
func (s *Session) Position() Position { return s.header.Position() }

// Len returns the number of thoughts in the log.
func (s *Session) Len() int { return s.header.Len }

// State returns whether the session is active, completed, cancelled or abandoned.
func (s *Session) State() State { return s.header.State }

// Title returns the title, which is the shortened first line of the first
// thought unless [Change.SetTitle] has set another.
func (s *Session) Title() string { return s.header.Title }

// Scope returns the scope that [Change.BeginIn] has set.
func (s *Session) Scope() string { return s.header.Scope }

// Dialect returns the name of the dialect that [Change.BeginIn] has set.
func (s *Session) Dialect() string { return s.header.Dialect }

// Context returns where the session comes from; see [WithContext].
func (s *Session) Context() Context { return s.header.Context }

// Conclusion returns what [Change.Conclude] has recorded.
func (s *Session) Conclusion() string { return s.header.Conclusion }

// Label returns the value of a label, or "" if the session does not have it.
func (s *Session) Label(key string) string { return s.header.Labels[key] }

// Labels returns a copy of the labels.
func (s *Session) Labels() map[string]string { return maps.Clone(s.header.Labels) }

// Created returns when the session was begun, in UTC.
func (s *Session) Created() time.Time { return s.header.Created }

// Updated returns when the session was last changed, in UTC.
func (s *Session) Updated() time.Time { return s.header.Updated }

// Expires returns when the session expires, in UTC; the zero time means never.
func (s *Session) Expires() time.Time { return s.header.Expires }

// read locks the ledger for reading and returns it with the number of thoughts
// that the session has. The caller unlocks it.
func (s *Session) read() (l *ledger, n int) {
	l = s.ledger
	if l == nil {
		l = newLedger(0)
	}
	l.mu.RLock()
	return l, s.known
}

// All yields the log in the order of Seq.
func (s *Session) All() iter.Seq[Thought] { return s.Since(0) }

// Since yields the thoughts after seq. It costs as much as it yields.
func (s *Session) Since(seq int) iter.Seq[Thought] {
	return func(yield func(Thought) bool) {
		// The records of a session do not change, so the lock is not held
		// while the caller uses them.
		l, n := s.read()
		log := l.log
		l.mu.RUnlock()
		for t := range log.slice(max(seq, 0), n) {
			if !yield(t.detached()) {
				return
			}
		}
	}
}

// At returns the thought at a position of the log.
func (s *Session) At(seq int) (Thought, bool) {
	l, n := s.read()
	defer l.mu.RUnlock()
	if seq < 1 || seq > n {
		return Thought{}, false
	}
	return l.thought(seq)
}

// HasTexts reports whether the session has the texts and notes of thought seq and of
// all that follow it. Only sessions from [Engine.WithoutTexts] may lack some.
func (s *Session) HasTexts(seq int) bool {
	return s.ledger == nil || max(seq, 1) > s.ledger.textless
}

// Last returns the thought that was recorded last, on whatever line.
func (s *Session) Last() (Thought, bool) { return s.At(s.Len()) }

// Upto returns the snapshot as it was after its first n thoughts. Its state and
// number of branches are what those thoughts say; other parts of the header are
// today's.
func (s *Session) Upto(n int) *Session {
	old := &Session{header: s.header, ledger: s.ledger, marks: s.marks}
	old.header.Len = min(max(n, 0), s.Len())
	if old.header.Len < s.Len() {
		old.marks = s.marks.upto(old.header.Len)
	}
	if s.ledger == nil {
		return old
	}
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	old.known = min(old.header.Len, s.known)
	s.ledger.handOut(old)
	old.header.Branches = len(s.ledger.branches(old.known))
	if old.known > 0 {
		t, _ := s.ledger.thought(old.known)
		old.header.State = stateAfter(t.Draft)
	}
	return old
}

// Branches returns the labels of the branches in order of first use.
func (s *Session) Branches() []string {
	l, n := s.read()
	defer l.mu.RUnlock()
	branches := l.branches(n)
	labels := make([]string, len(branches))
	for i := range branches {
		labels[i] = branches[i].label
	}
	return labels
}

// End returns the last thought of a line; the main line's label is empty.
func (s *Session) End(branch string) (Thought, bool) {
	l, n := s.read()
	defer l.mu.RUnlock()
	ln, _, ok := l.lineAt(branch, n)
	if !ok {
		return Thought{}, false
	}
	return l.thought(ln.last)
}

// Origin returns the thought at which a branch leaves its parent line. It
// reports false for the main line, an unknown branch, and a branch that leaves
// at no recorded thought.
func (s *Session) Origin(branch string) (Thought, bool) {
	l, n := s.read()
	defer l.mu.RUnlock()
	ln, _, ok := l.lineAt(branch, n)
	if !ok {
		return Thought{}, false
	}
	return l.thought(ln.origin)
}

// NextNumber returns the number that follows the largest one on the path that
// leads to the end of a line: 1 for a line without thoughts.
func (s *Session) NextNumber(branch string) int {
	l, n := s.read()
	defer l.mu.RUnlock()
	ln, _, ok := l.lineAt(branch, n)
	if !ok {
		return 1
	}
	return l.record(ln.last).highest + 1
}

// NumberAfter returns the number that follows the largest one on the path that
// leads to thought seq.
func (s *Session) NumberAfter(seq int) int {
	l, n := s.read()
	defer l.mu.RUnlock()
	if seq < 1 || seq > n {
		return 1
	}
	return l.record(seq).highest + 1
}

// Find returns the latest thought with the given number on the path that leads
// to the end of a line.
func (s *Session) Find(branch string, number int) (Thought, bool) {
	l, n := s.read()
	defer l.mu.RUnlock()
	_, at, ok := l.lineAt(branch, n)
	if !ok {
		return Thought{}, false
	}
	return l.thought(l.resolve(at, number, n))
}

// FindOrigin returns the thought that is meant by the origin of a new branch with the
// given number: the one on the line that was used last, otherwise on the main line,
// otherwise the latest one with that number.
func (s *Session) FindOrigin(number int) (Thought, bool) {
	l, n := s.read()
	defer l.mu.RUnlock()
	return l.thought(l.origin(number, n))
}

// Recorded returns the thought that was appended with the given request key.
func (s *Session) Recorded(key string) (Thought, bool) {
	l, n := s.read()
	defer l.mu.RUnlock()
	return l.thought(l.recorded(key, n))
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

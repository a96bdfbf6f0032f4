package sequent

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// A ledger is the log of one session as far as this process has it, with the
// indexes that an append needs. An append costs the same for the first thought
// and for the hundred-thousandth.
//
// Sessions share a ledger; each sees the first thoughts of it. Only the holder
// of writing may append, or remove what it appended and did not commit. So what
// a committed session sees never changes. A session that a change function got
// may see more; it loses the thoughts that are removed.
type ledger struct {
	epoch   int64
	writing sync.Mutex // held from planning a write to its commit

	mu        sync.RWMutex // guards what follows
	n         int          // thoughts in log
	committed int          // how many of them the store has
	log       pages
	textless  int            // the first thoughts of log, which lack their texts and notes
	lines     []line         // in order of first use; lines[0] is the main line
	byLabel   map[string]int // branch label → index in lines; without the main line
	byKey     map[string]int // request key → Seq
	bytes     int            // size of what the records refer to; see size.go
	handedOut []*Session     // by a Change, with thoughts that are not committed
}

// A line is the main line or a branch.
type line struct {
	label  string
	parent int // index in lines of the line it leaves; -1 for the main line
	origin int // Seq of the thought it leaves at; 0 for none
	first  int // Seq of its first thought
	last   int // Seq of its last thought

	numbers numbering
}

func newLedger(epoch int64) *ledger {
	return &ledger{epoch: epoch, lines: []line{{parent: -1}}}
}

// sessionOf returns the session with a header, a ledger that no other session has, and
// marks.
func sessionOf(h Header, l *ledger, m *marks) (*Session, error) {
	if l.n != h.Len {
		return nil, &Error{
			Code: CodeCorrupt, Field: "sessionId",
			Msg: fmt.Sprintf("thoughts of the session %q are missing from the store", h.ID),
			Fix: "run `sequent verify`",
		}
	}
	return snapshot(h, l, m), nil
}

// withoutTexts returns a copy of the ledger without the texts of all thoughts but the
// last, or nil if it has other thoughts than the first n.
func (l *ledger) withoutTexts(n int) *ledger {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.n != n || l.committed != n || n < 2 {
		return nil
	}
	c := &ledger{
		epoch: l.epoch, n: n, committed: n, textless: n - 1,
		log: make(pages, len(l.log)), lines: slices.Clone(l.lines),
		byLabel: maps.Clone(l.byLabel), byKey: maps.Clone(l.byKey),
	}
	for i := range c.lines {
		numbers := &c.lines[i].numbers
		numbers.dense, numbers.sparse = slices.Clone(numbers.dense), maps.Clone(numbers.sparse)
		c.bytes += numbers.size()
	}
	for i, page := range l.log {
		c.log[i] = new(*page)
	}
	for seq := 1; seq <= n; seq++ {
		r := c.record(seq)
		if seq < n {
			r.dropTexts()
		}
		c.bytes += r.size(c.extraOf(int(r.previous)))
	}
	return c
}

// dropTexts drops the texts of all thoughts but the last, of a ledger that nothing shares.
func (l *ledger) dropTexts() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ; l.textless < l.n-1; l.textless++ {
		r := l.record(l.textless + 1)
		previous := l.extraOf(int(r.previous))
		l.bytes -= r.size(previous)
		r.dropTexts()
		l.bytes += r.size(previous)
	}
}

// storedLen returns how many thoughts of the ledger the store has.
func (l *ledger) storedLen() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.committed
}

// commit records that the store has all thoughts of the ledger. The caller
// holds writing.
func (l *ledger) commit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.committed = l.n
	l.handedOut = nil
}

// handOut registers a session whose thoughts may still be removed. The caller
// holds mu.
func (l *ledger) handOut(s *Session) {
	n := len(l.handedOut)
	if s.known > l.committed && (n == 0 || l.handedOut[n-1] != s) {
		l.handedOut = append(l.handedOut, s)
	}
}

// extend appends the thoughts among stored entries, except those that the ledger has.
// It reports false if some are missing in between. The caller holds writing, and the
// ledger has no thoughts that are not committed.
func (l *ledger) extend(tail []Entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.committed = l.n }()
	for i := range tail {
		t := &tail[i].Thought
		if tail[i].Kind != KindThought || t.Seq <= l.n {
			continue
		}
		if t.Seq != l.n+1 {
			return false
		}
		l.push(*t)
	}
	return true
}

// record returns the record of a thought. The caller holds mu.
func (l *ledger) record(seq int) *record { return l.log.at(seq - 1) }

// thought returns a thought for a reader outside the package; false for Seq 0.
// The caller holds mu.
func (l *ledger) thought(seq int) (Thought, bool) {
	if seq == 0 {
		return Thought{}, false
	}
	t := l.log.thought(seq - 1)
	return t.detached(), true
}

// push appends t, whose Seq, After and Supersedes are set. The caller holds mu.
func (l *ledger) push(t Thought) {
	at, ok := l.lineIndex(t.Branch)
	if !ok {
		at = len(l.lines)
		if l.byLabel == nil {
			l.byLabel = make(map[string]int)
		}
		parent := 0
		if t.After > 0 {
			parent = int(l.record(t.After).line)
		}
		l.lines = append(l.lines, line{label: t.Branch, parent: parent, origin: t.After})
		l.byLabel[t.Branch] = at
	}
	ln := &l.lines[at]
	previous := l.extraOf(ln.last)
	r := newRecord(&t, previous)
	r.line, r.previous = int32(at), int32(ln.last)
	r.sameNumber, r.highest = int32(ln.numbers.latest(t.Number)), t.Number
	if t.After > 0 {
		r.highest = max(r.highest, l.record(t.After).highest)
	}
	l.bytes -= ln.numbers.size()
	ln.numbers.set(t.Number, t.Seq)
	l.bytes += ln.numbers.size()
	if ln.first == 0 {
		ln.first = t.Seq
	}
	ln.last = t.Seq
	if t.Request.Key != "" {
		if l.byKey == nil {
			l.byKey = make(map[string]int)
		}
		l.byKey[t.Request.Key] = t.Seq
	}
	l.log.set(l.n, r)
	l.n++
	l.bytes += r.size(previous)
}

// extraOf returns the extra of the record of a thought, nil for Seq 0.
func (l *ledger) extraOf(seq int) *extra {
	if seq == 0 {
		return nil
	}
	return l.record(seq).extra
}

// truncate removes everything after the first n thoughts, but nothing that is
// committed. The caller holds writing.
func (l *ledger) truncate(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n = max(n, l.committed)
	if l.n <= n {
		return
	}
	for _, s := range l.handedOut {
		s.known = min(s.known, n)
	}
	for ; l.n > n; l.n-- {
		r := l.record(l.n)
		ln := &l.lines[r.line]
		ln.last = int(r.previous)
		ln.numbers.set(r.number, int(r.sameNumber))
		if ln.first == l.n {
			ln.first = 0
			if r.line > 0 { // a branch begins with its first thought
				delete(l.byLabel, ln.label)
				l.lines = l.lines[:r.line]
			}
		}
		if r.extra != nil && r.extra.request.Key != "" {
			delete(l.byKey, r.extra.request.Key)
		}
		l.bytes -= r.size(l.extraOf(int(r.previous)))
	}
	l.log = l.log.cut(n)
}

// The methods below answer for a session that sees the first n thoughts. Their
// callers hold mu.

// branches returns the branches among the first n thoughts, in order of first use.
func (l *ledger) branches(n int) []line {
	i := 1
	for i < len(l.lines) && l.lines[i].first <= n {
		i++
	}
	return l.lines[1:i]
}

// lineIndex returns the index in lines of a label.
func (l *ledger) lineIndex(label string) (at int, ok bool) {
	if label == "" {
		return 0, true
	}
	at, ok = l.byLabel[label]
	return at, ok
}

// lineAt returns the line with a label as it was after n thoughts.
func (l *ledger) lineAt(label string, n int) (ln line, at int, ok bool) {
	at, ok = l.lineIndex(label)
	if !ok {
		return line{}, 0, false
	}
	ln = l.lines[at]
	if ln.first == 0 || ln.first > n {
		return line{}, 0, false
	}
	for ln.last > n {
		ln.last = int(l.record(ln.last).previous)
	}
	return ln, at, true
}

// recorded returns the Seq of the thought with a request key, 0 for none.
func (l *ledger) recorded(key string, n int) int {
	if seq := l.byKey[key]; seq <= n {
		return seq
	}
	return 0
}

// numbered returns the Seq of the latest thought with a number on the line at
// an index, 0 for none.
func (l *ledger) numbered(at, number, n int) int {
	seq := l.lines[at].numbers.latest(number)
	for seq > n {
		seq = int(l.record(seq).sameNumber)
	}
	return seq
}

// resolve returns the Seq of the latest thought with a number on the path that
// leads to the end of the line at an index, 0 for none.
//
// On the lines that the path comes from, thoughts up to the origin count, and
// revisions between the origin and the first thought of the branch that replace
// a thought on the path. See decision 0003.
func (l *ledger) resolve(at, number, n int) int {
	origin := n
	for {
		seq := l.numbered(at, number, n)
		for seq > origin && !l.replacesUpTo(seq, origin) {
			seq = int(l.record(seq).sameNumber)
		}
		if seq > 0 {
			return seq
		}
		ln := l.lines[at]
		if ln.origin == 0 {
			return 0
		}
		n, origin, at = min(n, ln.first), min(origin, ln.origin), ln.parent
	}
}

// replacesUpTo reports whether a thought is a revision, or a revision of a
// revision, of a thought at or before origin.
func (l *ledger) replacesUpTo(seq, origin int) bool {
	for seq > origin {
		seq = int(l.record(seq).supersedes)
	}
	return seq > 0
}

// origin returns the Seq of the thought at which a new branch leaves that names
// a number; see [Session.FindOrigin].
func (l *ledger) origin(number, n int) int {
	if n == 0 {
		return 0
	}
	current := int(l.record(n).line)
	if seq := l.resolve(current, number, n); seq > 0 {
		return seq
	}
	if seq := l.resolve(0, number, n); seq > 0 {
		return seq
	}
	latest := 0
	for at := range l.lines {
		latest = max(latest, l.numbered(at, number, n))
	}
	return latest
}

package sequent

import "sync"

// A ledger is the log of one session as far as this process knows it, with an
// index that makes the questions of an append cheap: they cost the same for
// the first thought and for the hundred-thousandth.
//
// Sessions share a ledger, each seeing a prefix of it. Only the holder of
// writing may make it longer, or take back what it added and did not commit.
// So the prefix of a committed session never changes. A session that a change
// function was given may see more; it loses the thoughts that are taken back.
type ledger struct {
	epoch   int64
	writing sync.Mutex // held by whoever changes the ledger, from plan to commit

	mu        sync.RWMutex // guards what follows
	n         int          // thoughts in log
	committed int          // how many of them the store has
	log       pages
	lines     []line         // in order of first use; lines[0] is the main line
	byLabel   map[string]int // branch label → place in lines; not of the main line
	byKey     map[string]int // request key → Seq
	bytes     int            // of what the thoughts refer to, for the cache
	handedOut []*Session     // by a Change, with thoughts that are not committed
}

// A line is the main line or a branch.
type line struct {
	label  string
	parent int // place in lines of the line it leaves; -1 for the main line
	origin int // Seq of the thought it leaves at; 0 for none
	first  int // Seq of its first thought
	last   int // Seq of its last thought

	numbers numbering
}

func newLedger(epoch int64) *ledger {
	return &ledger{epoch: epoch, lines: []line{{parent: -1}}}
}

// restore fills a ledger with stored thoughts.
func restore(epoch int64, log []Thought) *ledger {
	l := newLedger(epoch)
	l.extend(log)
	return l
}

// known returns how many thoughts the ledger has that a store has, too.
func (l *ledger) known() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.committed
}

// since returns the thoughts after the first n.
func (l *ledger) since(n int) []Thought {
	l.mu.RLock()
	defer l.mu.RUnlock()
	thoughts := make([]Thought, 0, l.n-n)
	for ; n < l.n; n++ {
		thoughts = append(thoughts, l.log.thought(n))
	}
	return thoughts
}

// commit says that a store has all thoughts of the ledger.
func (l *ledger) commit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.committed = l.n
	l.handedOut = nil
}

// handOut registers a session whose thoughts may still be taken back. The
// caller holds mu.
func (l *ledger) handOut(s *Session) {
	n := len(l.handedOut)
	if s.known > l.committed && (n == 0 || l.handedOut[n-1] != s) {
		l.handedOut = append(l.handedOut, s)
	}
}

// extend appends thoughts that a store has. Those that the ledger already has
// are passed over; there is none that the store has not. It reports whether
// there was no gap.
func (l *ledger) extend(tail []Thought) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.committed = l.n }()
	for i := range tail {
		if tail[i].Seq <= l.n {
			continue
		}
		if tail[i].Seq != l.n+1 {
			return false
		}
		l.push(tail[i])
	}
	return true
}

// seq returns what is kept at a position of the log. The caller holds mu.
func (l *ledger) seq(seq int) *record { return l.log.at(seq - 1) }

// thought returns the thought at a position of the log, for a reader outside
// the package. The caller holds mu.
func (l *ledger) thought(seq int) Thought {
	t := l.log.thought(seq - 1)
	return t.detached()
}

// push appends t, whose Seq, After and Supersedes are set. The caller holds mu.
func (l *ledger) push(t Thought) {
	li, ok := l.line(t.Branch)
	if !ok {
		li = len(l.lines)
		if l.byLabel == nil {
			l.byLabel = make(map[string]int)
		}
		parent := 0
		if t.After > 0 {
			parent = int(l.seq(t.After).line)
		}
		l.lines = append(l.lines, line{label: t.Branch, parent: parent, origin: t.After})
		l.byLabel[t.Branch] = li
	}
	ln := &l.lines[li]
	var like *rest
	if ln.last > 0 {
		like = l.seq(ln.last).rest
	}
	r := newRecord(&t, like)
	r.mark = mark{
		line: int32(li), previous: int32(ln.last), namesake: int32(ln.numbers.latest(t.Number)), highest: t.Number,
	}
	if t.After > 0 {
		r.highest = max(r.highest, l.seq(t.After).highest)
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
	l.bytes += r.size(like)
}

// line returns the place in lines of the line with a label. The caller holds mu.
func (l *ledger) line(label string) (at int, ok bool) {
	if label == "" {
		return 0, true
	}
	at, ok = l.byLabel[label]
	return at, ok
}

// truncate takes back everything after the first n thoughts, but nothing that
// is committed. The caller holds writing.
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
		r := l.seq(l.n)
		ln := &l.lines[r.line]
		ln.last = int(r.previous)
		ln.numbers.set(r.number, int(r.namesake))
		if ln.first == l.n {
			ln.first = 0
			if r.line > 0 { // a branch begins with its first thought
				delete(l.byLabel, ln.label)
				l.lines = l.lines[:r.line]
			}
		}
		if r.rest != nil && r.rest.request.Key != "" {
			delete(l.byKey, r.rest.request.Key)
		}
		var like *rest
		if r.previous > 0 {
			like = l.seq(int(r.previous)).rest
		}
		l.bytes -= r.size(like)
	}
	l.log = l.log.cut(n)
}

// branches returns the branches among the first n thoughts, in order of first use.
// The caller holds mu.
func (l *ledger) branches(n int) []line {
	i := 1
	for i < len(l.lines) && l.lines[i].first <= n {
		i++
	}
	return l.lines[1:i]
}

// The questions below are asked by snapshots, which know the first n thoughts.

// lineAt returns the line with the given label, as it was after n thoughts.
func (l *ledger) lineAt(label string, n int) (ln line, at int, ok bool) {
	at, ok = l.line(label)
	if !ok {
		return line{}, 0, false
	}
	ln = l.lines[at]
	if ln.first == 0 || ln.first > n {
		return line{}, 0, false
	}
	for ln.last > n {
		ln.last = int(l.seq(ln.last).previous)
	}
	return ln, at, true
}

// named returns the latest thought with that number on line at, among the
// first n.
func (l *ledger) named(at, number, n int) int {
	seq := l.lines[at].numbers.latest(number)
	for seq > n {
		seq = int(l.seq(seq).namesake)
	}
	return seq
}

// resolve returns the Seq of the latest thought with that number on the path
// that leads to the end of line at, among the first n thoughts; 0 for none.
//
// Above a line's own thoughts the path ends at its origin. A revision made
// after the origin, but before the line was opened, counts as well if what it
// replaces is on the path.
func (l *ledger) resolve(at, number, n int) int {
	origin := n
	for {
		seq := l.named(at, number, n)
		for seq > origin && !l.replacesUpTo(seq, origin) {
			seq = int(l.seq(seq).namesake)
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

// replacesUpTo reports whether the thought at seq is a revision of something
// at or before origin.
func (l *ledger) replacesUpTo(seq, origin int) bool {
	for seq > origin {
		seq = int(l.seq(seq).supersedes)
	}
	return seq > 0
}

// origin returns the Seq of the thought at which a new branch leaves that names
// a number; see [Session.FindOrigin].
func (l *ledger) origin(number, n int) int {
	if n == 0 {
		return 0
	}
	current := int(l.seq(n).line)
	if seq := l.resolve(current, number, n); seq > 0 {
		return seq
	}
	if seq := l.resolve(0, number, n); seq > 0 {
		return seq
	}
	latest := 0
	for at := range l.lines {
		latest = max(latest, l.named(at, number, n))
	}
	return latest
}

// recorded returns the Seq of the thought with a request key among the first n;
// 0 for none.
func (l *ledger) recorded(key string, n int) int {
	if seq := l.byKey[key]; seq <= n {
		return seq
	}
	return 0
}

// at returns the thought at seq, or false for 0.
func (l *ledger) at(seq int) (Thought, bool) {
	if seq == 0 {
		return Thought{}, false
	}
	return l.thought(seq), true
}

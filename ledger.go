package sequent

import "sync"

// A ledger is the log of one session as far as this process knows it, with an
// index that makes the questions of an append cheap: they cost the same for
// the first thought and for the hundred-thousandth.
//
// Snapshots share a ledger, each seeing a prefix of it. Only the holder of
// writing may make it longer, or take back what it added and did not commit;
// so a prefix never changes.
type ledger struct {
	epoch   int64
	writing sync.Mutex // held by whoever changes the ledger, from plan to commit

	mu        sync.RWMutex // guards what follows
	n         int          // thoughts in log
	committed int          // how many of them the store has
	log       pages[logged]
	lines     []line         // in order of first use; lines[0] is the main line
	byLabel   map[string]int // branch label → place in lines
	byNumber  map[place]int  // → Seq of the latest thought there
	byKey     map[string]int // request key → Seq
	bytes     int64          // of the log, roughly, for the cache
}

// A logged is a thought with what is known of it.
type logged struct {
	Thought
	mark
}

// A place is an author's number on a line.
type place struct{ line, number int }

// A mark holds what was true of a thought's line when it was appended.
type mark struct {
	line     int // place in lines
	previous int // Seq of the thought before it on its own line, 0 for none
	namesake int // Seq of the thought before it with the same number on that line, 0 for none
	highest  int // largest number on its path so far, its own included
}

// A line is the main line or a branch.
type line struct {
	label  string
	parent int // place in lines of the line it leaves; -1 for the main line
	origin int // Seq of the thought it leaves at; 0 for none
	first  int // Seq of its first thought
	last   int // Seq of its last thought
}

func newLedger(epoch int64) *ledger {
	return &ledger{
		epoch:    epoch,
		lines:    []line{{parent: -1}},
		byLabel:  map[string]int{"": 0},
		byNumber: make(map[place]int),
	}
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
		thoughts = append(thoughts, l.log.at(n).Thought)
	}
	return thoughts
}

// commit says that a store has all thoughts of the ledger.
func (l *ledger) commit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.committed = l.n
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

// seq returns the thought at a position of the log. The caller holds mu.
func (l *ledger) seq(seq int) *logged { return l.log.at(seq - 1) }

// push appends t, whose Seq, After and Supersedes are set. The caller holds mu.
func (l *ledger) push(t Thought) {
	li, ok := l.byLabel[t.Branch]
	if !ok {
		li = len(l.lines)
		parent := 0
		if t.After > 0 {
			parent = l.seq(t.After).line
		}
		l.lines = append(l.lines, line{label: t.Branch, parent: parent, origin: t.After})
		l.byLabel[t.Branch] = li
	}
	ln := &l.lines[li]
	m := mark{line: li, previous: ln.last, highest: t.Number}
	if t.After > 0 {
		m.highest = max(m.highest, l.seq(t.After).highest)
	}
	at := place{li, t.Number}
	m.namesake = l.byNumber[at]
	l.byNumber[at] = t.Seq
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
	l.log.set(l.n, logged{t, m})
	l.n++
	l.bytes += weigh(t)
}

// truncate takes back everything after the first n thoughts, but nothing that
// is committed. The caller holds writing.
func (l *ledger) truncate(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.n > max(n, l.committed) {
		last := l.log.at(l.n - 1)
		t, m := last.Thought, last.mark
		ln := &l.lines[m.line]
		ln.last = m.previous
		if at := (place{m.line, t.Number}); m.namesake == 0 {
			delete(l.byNumber, at)
		} else {
			l.byNumber[at] = m.namesake
		}
		if ln.first == t.Seq {
			ln.first = 0
			if m.line > 0 { // a branch begins with its first thought
				delete(l.byLabel, ln.label)
				l.lines = l.lines[:m.line]
			}
		}
		if t.Request.Key != "" {
			delete(l.byKey, t.Request.Key)
		}
		l.bytes -= weigh(t)
		*last = logged{}
		l.n--
	}
}

// weigh estimates the bytes that a thought takes in a ledger: its struct, its
// mark, its share of the maps, and its strings.
func weigh(t Thought) int64 {
	n := 400 + len(t.Text) + len(t.Note) + len(t.Branch) + len(t.Request.Key) + len(t.Request.Digest)
	for k, v := range t.Labels {
		n += 48 + len(k) + len(v)
	}
	return int64(n)
}

// The questions below are asked by snapshots, which know the first n thoughts.

// lineAt returns the line with the given label, as it was after n thoughts.
func (l *ledger) lineAt(label string, n int) (ln line, at int, ok bool) {
	at, ok = l.byLabel[label]
	if !ok {
		return line{}, 0, false
	}
	ln = l.lines[at]
	if ln.first == 0 || ln.first > n {
		return line{}, 0, false
	}
	for ln.last > n {
		ln.last = l.seq(ln.last).previous
	}
	return ln, at, true
}

// named returns the latest thought with that number on line at, among the
// first n.
func (l *ledger) named(at, number, n int) int {
	seq := l.byNumber[place{at, number}]
	for seq > n {
		seq = l.seq(seq).namesake
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
			seq = l.seq(seq).namesake
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
		seq = l.seq(seq).Supersedes
	}
	return seq > 0
}

// origin returns the Seq of the thought at which a new branch leaves that names
// a number; see [Session.FindOrigin].
func (l *ledger) origin(number, n int) int {
	if n == 0 {
		return 0
	}
	current := l.seq(n).line
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

// at returns the thought at seq, or false for 0.
func (l *ledger) at(seq int) (Thought, bool) {
	if seq == 0 {
		return Thought{}, false
	}
	return l.seq(seq).Thought, true
}

package sequent

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// MainLine is the label of the main line. People may write "main" for it.
const MainLine = ""

// A Step is a thought as it stands in the effective chain.
type Step struct {
	Thought
	Place    int   // number of the first thought that it replaces, otherwise its own
	Replaced []int // Seqs of the thoughts it replaced, oldest first
}

// Path returns the lineage of a line in order of Seq: the line's thoughts and,
// before them, those of its parent up to its origin, and so on to the first.
// Revisions made between the origin and the opening of the branch belong to it
// if what they replace does. The path of an unknown branch is empty.
//
// Its cost is proportional to the length of the path.
func (s *Session) Path(branch string) []Thought {
	l, n := s.read()
	defer l.mu.RUnlock()
	_, at, ok := l.lineAt(branch, n)
	if !ok {
		return nil
	}
	var path []Thought
	origin := n
	for {
		ln := l.lines[at]
		for seq := ln.last; seq > 0; seq = l.links[seq-1].previous {
			if seq <= n && (seq <= origin || l.replacesUpTo(seq, origin)) {
				path = append(path, l.thoughts[seq-1].detached())
			}
		}
		if ln.origin == 0 {
			break
		}
		n, origin, at = min(n, ln.first), min(origin, ln.origin), ln.parent
	}
	slices.SortFunc(path, func(a, b Thought) int { return a.Seq - b.Seq })
	return path
}

// Effective returns the chain that a line stands for now: its path, with each
// thought that was revised replaced, in its place, by its latest revision.
func (s *Session) Effective(branch string) []Step {
	path := s.Path(branch)
	steps := make([]Step, 0, len(path))
	placeOf := make(map[int]int, len(path)) // Seq → index in steps
	for _, t := range path {
		if i, ok := placeOf[t.Supersedes]; ok && t.Supersedes > 0 {
			old := steps[i]
			steps[i] = Step{Thought: t, Place: old.Place, Replaced: append(old.Replaced, old.Seq)}
			placeOf[t.Seq] = i
			continue
		}
		placeOf[t.Seq] = len(steps)
		steps = append(steps, Step{Thought: t, Place: t.Number})
	}
	return steps
}

// An OutlineEntry is a thought in an outline.
type OutlineEntry struct {
	Thought
	Depth int // 0 for the main line, 1 for a branch from it, …
}

// Outline returns the whole session as a tree in reading order: each branch
// follows the thought at which it leaves, one level deeper. Branches without an
// origin in the log come last.
func (s *Session) Outline() []OutlineEntry {
	own := make(map[string][]int)     // line → Seqs of its thoughts
	leaving := make(map[int][]string) // Seq → branches that leave there
	for t := range s.All() {
		if t.Branch != "" && len(own[t.Branch]) == 0 {
			leaving[t.After] = append(leaving[t.After], t.Branch)
		}
		own[t.Branch] = append(own[t.Branch], t.Seq)
	}
	entries := make([]OutlineEntry, 0, s.Len())
	var walk func(line string, depth int)
	walk = func(line string, depth int) {
		for _, seq := range own[line] {
			t, _ := s.At(seq)
			entries = append(entries, OutlineEntry{Thought: t, Depth: depth})
			for _, branch := range leaving[seq] {
				walk(branch, depth+1)
			}
		}
	}
	walk("", 0)
	for _, branch := range leaving[0] {
		walk(branch, 1)
	}
	return entries
}

// Asked returns the problem as it was first put, which is the first thought or the title that
// [Change.SetTitle] has set, and the thought that was put in place of the first one since; the zero
// Thought if there is none.
//
// Its cost is that of [Session.Standings].
func (s *Session) Asked() (problem string, now Thought) {
	first, ok := s.At(1)
	if !ok || s.header.Title != TitleOf(first.Text) {
		return s.header.Title, Thought{}
	}
	now, _ = s.At(s.Standings()[0].By)
	return first.Text, now
}

// Ranges returns numbers of thoughts in short form, sorted and without repetitions:
// "1-4, 7". A list of more than twelve parts keeps its first part and its last eleven.
func Ranges(numbers []int) string {
	const most = 12
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		first := numbers[i]
		last := first
		for i++; i < len(numbers) && numbers[i] == last+1; i++ {
			last++
		}
		part := strconv.Itoa(first)
		if last > first {
			part += "-" + strconv.Itoa(last)
		}
		parts = append(parts, part)
	}
	if len(parts) > most {
		parts = append(append(parts[:1:1], "…"), parts[len(parts)-most+1:]...)
	}
	return strings.Join(parts, ", ")
}

// A ledger is a log with the indexes that an append needs. An append costs the same for
// the first thought and for the hundred-thousandth.
//
// Sessions share a ledger, which only grows; each sees its first thoughts. So what a
// session sees never changes.
type ledger struct {
	mu       sync.RWMutex
	thoughts []Thought
	links    []link           // of each thought
	lines    []line           // in order of first use; lines[0] is the main line
	byLabel  map[string]int   // label → index in lines; without the main line
	byKey    map[string]int   // request key → Seq
	byNumber map[numbered]int // Seq of the latest thought
}

// A link places a thought among the others of the log.
type link struct {
	line       int // index in lines
	previous   int // Seq of the previous thought on the line; 0 for none, as below
	sameNumber int // of the previous one with the same number
	highest    int // largest number on the path to the thought
}

// A line is the main line or a branch.
type line struct {
	label  string
	parent int // index in lines of the line it leaves; -1 for the main line
	origin int // Seq of the thought it leaves at; 0 for none
	first  int // Seq of its first thought
	last   int // Seq of its last thought
}

// A numbered is a number of a line.
type numbered struct{ line, number int }

// newLedger returns an empty ledger with room for n thoughts.
func newLedger(n int) *ledger {
	return &ledger{
		lines: []line{{parent: -1}}, thoughts: make([]Thought, 0, n), links: make([]link, 0, n),
		byLabel: make(map[string]int), byKey: make(map[string]int), byNumber: make(map[numbered]int, n),
	}
}

// with returns the ledger with another thought, whose Seq, After and Supersedes are set: l,
// or a copy of its earlier thoughts if l has a thought with that Seq already.
func (l *ledger) with(t Thought) *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := t.Seq - 1
	if len(l.thoughts) > n {
		earlier := l.thoughts[:n]
		l = newLedger(t.Seq)
		for i := range earlier {
			l.push(earlier[i])
		}
	}
	l.push(t)
	return l
}

// push appends the next thought.
func (l *ledger) push(t Thought) {
	at, ok := l.lineIndex(t.Branch)
	if !ok {
		at = len(l.lines)
		parent := 0
		if t.After > 0 {
			parent = l.links[t.After-1].line
		}
		l.lines = append(l.lines, line{label: t.Branch, parent: parent, origin: t.After})
		l.byLabel[t.Branch] = at
	}
	ln, number := &l.lines[at], numbered{at, t.Number}
	k := link{line: at, previous: ln.last, sameNumber: l.byNumber[number], highest: t.Number}
	if t.After > 0 {
		k.highest = max(k.highest, l.links[t.After-1].highest)
	}
	if ln.first == 0 {
		ln.first = t.Seq
	}
	ln.last = t.Seq
	l.byNumber[number] = t.Seq
	if t.Request.Key != "" {
		l.byKey[t.Request.Key] = t.Seq
	}
	l.thoughts, l.links = append(l.thoughts, t), append(l.links, k)
}

// The methods below answer for a session that sees the first n thoughts. Their callers
// hold mu.

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
	if label == MainLine {
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
	ln.last = l.lastOf(ln, n)
	return ln, at, true
}

// lastOf returns the Seq of the last thought of a line among the first n.
func (l *ledger) lastOf(ln line, n int) int {
	for ln.last > n {
		ln.last = l.links[ln.last-1].previous
	}
	return ln.last
}

// recorded returns the Seq of the thought with a request key, 0 for none.
func (l *ledger) recorded(key string, n int) int {
	if seq := l.byKey[key]; seq <= n {
		return seq
	}
	return 0
}

// numbered returns the Seq of the latest thought with a number on the line at an index, 0
// for none.
func (l *ledger) numbered(at, number, n int) int {
	seq := l.byNumber[numbered{at, number}]
	for seq > n {
		seq = l.links[seq-1].sameNumber
	}
	return seq
}

// resolve returns the Seq of the latest thought with a number on the path that leads to
// the end of the line at an index, 0 for none.
//
// On the lines that the path comes from, thoughts up to the origin count, and revisions
// between the origin and the first thought of the branch that replace a thought on the
// path. See decision 0003.
func (l *ledger) resolve(at, number, n int) int {
	origin := n
	for {
		seq := l.numbered(at, number, n)
		for seq > origin && !l.replacesUpTo(seq, origin) {
			seq = l.links[seq-1].sameNumber
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

// replacesUpTo reports whether a thought is a revision, or a revision of a revision, of a
// thought at or before origin.
func (l *ledger) replacesUpTo(seq, origin int) bool {
	for seq > origin {
		seq = l.thoughts[seq-1].Supersedes
	}
	return seq > 0
}

// origin returns the Seq of the thought at which a new branch leaves that names a number;
// see [Session.FindBranchPoint].
func (l *ledger) origin(number, n int) int {
	if n == 0 {
		return 0
	}
	seq := cmp.Or(l.resolve(l.links[n-1].line, number, n), l.resolve(0, number, n))
	if seq == 0 {
		for at := range l.lines {
			seq = max(seq, l.numbered(at, number, n))
		}
	}
	return seq
}

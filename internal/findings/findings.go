// Package findings says what the log of a session shows that its author may have missed: facts of its bookkeeping,
// each with its evidence by number and with what to do about it. It judges no content, and it prefers to miss
// something to a false alarm.
package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A Kind says what a finding is about.
type Kind string

// The kinds.
const (
	Reused             Kind = "reused"               // a plain thought has the number of another one of its line
	EmptyRevision      Kind = "empty-revision"       // a revision does not say of what
	ReplacedTwice      Kind = "replaced-twice"       // a revision of a thought that was replaced by one that holds
	Circular           Kind = "circular"             // a revision restores what was replaced, word for word
	BranchFromReplaced Kind = "branch-from-replaced" // a branch leaves from a replaced thought, or from one of two
	ChosenReplaced     Kind = "chosen-replaced"      // a line is chosen that leaves from a replaced thought
	Stale              Kind = "stale"                // a thought cites one that was replaced as if it held
	SecondConclusion   Kind = "second-conclusion"    // a conclusion beside one that still holds
	NoVerdict          Kind = "no-verdict"           // a conclusion without a verdict on some lines
	Contested          Kind = "contested"            // a conclusion cites a thought that a person disputes
)

// A Finding is a fact of the log.
type Finding struct {
	Kind Kind   `json:"kind"`
	At   int    `json:"at"`            // Seq of the thought that shows it
	Of   []int  `json:"of"`            // Seqs of the thoughts that it is about
	Text string `json:"text"`          // the fact
	Fix  string `json:"fix,omitempty"` // what its author can do about it, in the words of the dialect standard
}

// Of returns the findings of a session, in the order of the log, each fact once.
func Of(s *sequent.Session) (all []Finding) {
	l := newLog(s)
	said := make(map[string]bool)
	for i := range l.thoughts {
		for _, f := range l.check(&l.thoughts[i]) {
			key := fmt.Sprint(f.Kind, f.Of)
			if f.Kind == ChosenReplaced {
				key = fmt.Sprint(BranchFromReplaced, f.Of)
			}
			if !said[key] || f.Of == nil {
				said[key] = true
				all = append(all, f)
			}
		}
	}
	return all
}

// Texts returns the facts by the Seq of the thought that shows them, for readers. They see that a line has no verdict
// without being told.
func Texts(s *sequent.Session) map[int][]string {
	texts := make(map[int][]string)
	for _, f := range Of(s) {
		if f.Kind != NoVerdict {
			texts[f.At] = append(texts[f.At], f.Text)
		}
	}
	return texts
}

// Last returns those that the last thought shows. Its cost is that of a look at the thought, unless this is a
// conclusion, a revision, the first of a branch, a decision, or cites a number after a revision.
func Last(s *sequent.Session) []Finding {
	t, ok := s.Last()
	if !ok {
		return nil
	}
	before, _ := s.At(t.After)
	decides := slices.ContainsFunc(s.Decisions(), func(d sequent.Decision) bool { return d.Seq == t.Seq })
	cites := nextCitation(t.Text, 0) >= 0 && revised(s)
	if !decides && !cites && !telling(&t, &before) || len(newLog(s).check(&t)) == 0 {
		return nil
	}
	return slices.DeleteFunc(Of(s), func(f Finding) bool { return f.At != t.Seq })
}

// telling reports whether a thought that follows another one, decides nothing and cites nothing can show anything.
func telling(t, before *sequent.Thought) bool {
	return t.Final || t.Revision || t.Supersedes > 0 || before.Branch != t.Branch || t.Number <= before.Number
}

// revised reports whether any thought was replaced. Otherwise no citation can be of one that was.
func revised(s *sequent.Session) bool {
	for t := range s.All() {
		if t.Supersedes > 0 {
			return true
		}
	}
	return false
}

// A log is a session with what checks look up.
type log struct {
	thoughts  []sequent.Thought
	lines     map[string]sequent.Line
	branches  []sequent.Line
	numbered  map[int][]int // Seqs by number
	revisions map[int][]int // Seqs of what replaces a thought
	decisions map[int][]sequent.Decision
	decided   map[string]int // Seq of the first decision about a line
	disputed  map[int]bool   // Seqs of what a person says is wrong, and nothing has answered
	hashes    map[int]uint64 // as words returns them
	room      int            // citations that are still looked at
	work      int            // lines that are still climbed
}

// Bounds, so that no log takes long. Beyond them something is missed.
const (
	maxSteps     = 50 // steps of one search: lines up, revisions of a thought, thoughts of a number
	maxCitations = 2000
	maxWork      = 1 << 20
	maxLines     = 100
)

func newLog(s *sequent.Session) *log {
	lines := s.Lines()
	l := &log{
		thoughts: s.Thoughts(), lines: make(map[string]sequent.Line), branches: lines[1:], numbered: make(map[int][]int),
		revisions: make(map[int][]int), decisions: make(map[int][]sequent.Decision), decided: make(map[string]int),
		disputed: make(map[int]bool), hashes: make(map[int]uint64), room: maxCitations, work: maxWork,
	}
	for _, line := range lines {
		l.lines[line.Label] = line
	}
	for _, d := range s.Decisions() {
		l.decisions[d.Seq] = append(l.decisions[d.Seq], d)
		if l.decided[d.Line] == 0 {
			l.decided[d.Line] = d.Seq
		}
	}
	for i := range l.thoughts {
		t := &l.thoughts[i]
		l.numbered[t.Number] = append(l.numbered[t.Number], t.Seq)
		if t.Supersedes > 0 {
			l.revisions[t.Supersedes] = append(l.revisions[t.Supersedes], t.Seq)
		}
	}
	for _, n := range s.Notes() {
		if n.Kind != sequent.Remark {
			l.disputed[n.Seq] = n.Kind == sequent.Wrong && len(l.revisions[n.Seq]) == 0
		}
	}
	return l
}

func (l *log) at(seq int) *sequent.Thought { return &l.thoughts[seq-1] }

// leads reports whether a thought is on the path that leads to another one: on its line, or on a line that this one
// comes from, before the branch left. What replaces a thought of the path between the origin and the first thought
// of a branch is on the path, too.
func (l *log) leads(seq int, to *sequent.Thought) bool {
	label, limit, opened := to.Branch, to.Seq-1, to.Seq
	t := l.at(seq)
	for range maxSteps {
		if l.work--; l.work < 0 {
			return false
		}
		if t.Branch == label {
			return seq <= limit || seq < opened && t.Supersedes > 0 && l.leads(t.Supersedes, to)
		}
		line := l.lines[label]
		if line.Origin == 0 {
			return false
		}
		label, limit, opened = l.at(line.Origin).Branch, min(limit, line.Origin), min(opened, line.First)
	}
	return false
}

// lineage returns the lines that a thought's own one comes from, and this.
func (l *log) lineage(t *sequent.Thought) map[string]bool {
	labels := map[string]bool{t.Branch: true}
	for label := t.Branch; len(labels) < maxSteps; labels[label] = true {
		origin := l.lines[label].Origin
		if origin == 0 {
			break
		}
		label = l.at(origin).Branch
	}
	return labels
}

// replacement returns what has replaced a thought, as it is seen from another one, or 0.
func (l *log) replacement(seq int, from *sequent.Thought) (by int) {
	for range maxSteps {
		i := slices.IndexFunc(latest(l.revisions[seq]), func(r int) bool { return r < from.Seq && l.leads(r, from) })
		if i < 0 {
			return by
		}
		by = latest(l.revisions[seq])[i]
		seq = by
	}
	return by
}

// latest returns the latest of some Seqs, the last one first.
func latest(seqs []int) []int {
	seqs = slices.Clone(seqs[max(0, len(seqs)-maxSteps):])
	slices.Reverse(seqs)
	return seqs
}

// name names a thought for a reader on a line.
func (l *log) name(seq int, label string) string {
	t := l.at(seq)
	if t.Branch == label || t.Branch == "" {
		return fmt.Sprintf("#%d", t.Number)
	}
	return fmt.Sprintf("%s#%d", t.Branch, t.Number)
}

// quote returns the beginning of a thought.
func (l *log) quote(seq int) string {
	text, _, _ := strings.Cut(l.at(seq).Text, "\n")
	return strings.TrimRight(printable.Short(text, 36), ". ")
}

// Package brief tells what a session came to, in as few words as a budget allows: for
// an agent that goes on with it, and for a person who was not there.
//
// A brief is made from the log alone: its sentences are the author's, chosen by where
// they stand and what refers to what. No language model is involved. In this order it
// has the problem as it was first put, how the session ended, the decision among its lines, where each line ends, what
// people said, which claims were withdrawn, what changed the author's mind, and then
// thoughts that hold, those first that weigh most. What was replaced is never shown as
// if it held: the problem is followed by what it was revised to.
package brief

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
	"github.com/sequent-dev/sequent/internal/printable"
)

// Write returns the brief of a session in at most the given number of bytes, if that is
// enough for its first line, and how many thoughts that hold it does not show whole. It
// fails only if ctx is done.
func Write(ctx context.Context, s *sequent.Session, bytes int) (text string, left int, err error) {
	w := newWriter(ctx, s, bytes)
	w.plan(bytes)
	if err := w.choose(bytes); err != nil {
		return "", 0, err
	}
	holding := 0
	for i := range w.log {
		if w.holds(i + 1) {
			holding++
		}
	}
	return w.text(), w.left(holding), nil
}

// A writer collects what a brief may say and chooses from it.
type writer struct {
	*findings.Reading
	ctx   context.Context
	log   []sequent.Thought
	lines []sequent.Line
	items []*item
	shown map[int]bool // thoughts that an item has, by Seq
	room  int          // bytes of texts that are still divided into sentences
}

// The sections of a brief, in order.
const (
	sectionHead = iota
	sectionAsked
	sectionEnd
	sectionDecision
	sectionLines
	sectionNotes
	sectionWithdrawn
	sectionChange
	sectionThoughts
)

// An item is a line of a brief: a head and the sentences behind it.
type item struct {
	section int
	head    string // what the line begins with
	seq     int    // of the thought whose sentences these are; 0 for none
	pieces  []piece
	begun   bool // a piece is chosen
}

// A piece is a sentence, or another part of a line that is said whole or not at all.
type piece struct {
	text   string
	weight float64
	chosen bool
}

// Pieces are chosen by weight, so the weights decide what a small budget leaves out.
// Those of the sentences behind the first one fall by what add is told.
const (
	weightEnd       = 100.0
	weightAsked     = 99.0
	weightDecision  = 97.0
	weightNote      = 95.0
	weightVerdict   = 94.0 // of a sentence of the decision that names a line
	weightWithdrawn = 93.0
	weightChange    = 92.0
	weightEndMore   = 91.0 // of the second sentence of the end
	weightLine      = 90.0
	weightRejected  = 89.0 // of what a rejected line was, after the reason against it
	weightFinal     = 80.0
	weightBefore    = 78.0 // of the list of what was not looked at since
	weightRevision  = 72.0
	weightThought   = 71.0
	weightReasons   = 68.9 // of other sentences of the decision
	weightCause     = 68.0 // of other sentences of what changed the author's mind
	weightUnshown   = -1e9 // of what is behind the part of a text that is looked at
)

func newWriter(ctx context.Context, s *sequent.Session, bytes int) *writer {
	return &writer{
		Reading: findings.Read(s), ctx: ctx, room: 2*min(bytes, math.MaxInt32) + 2*longestSentence,
		log: s.Thoughts(), lines: s.Lines(), shown: make(map[int]bool),
	}
}

// add adds an item whose pieces are the sentences of a text. The first piece is long
// enough to say something, and has a weight of its own; the next ones weigh rest, and
// less with each.
func (w *writer) add(it item, text string, weight, rest, decay float64) *item {
	if w.ctx.Err() != nil {
		text = "" // choose returns the error of the context
	}
	whole, room := text, w.room
	if n := max(room, 2*longestSentence); len(text) > n { // there is no room for the rest
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	w.room -= len(text)
	for i, sentence := range lead(answered(parts(text))) {
		if i > 0 && room <= 0 { // otherwise short sentences would take many times the memory of the texts
			text = ""
			break
		}
		if i > 0 {
			weight = rest - float64(i-1)*decay
		}
		it.pieces = append(it.pieces, piece{text: sentence, weight: weight})
	}
	if len(text) < len(whole) {
		it.pieces = append(it.pieces, piece{weight: weightUnshown})
	}
	if len(it.pieces) == 0 {
		it.pieces = []piece{{weight: weight}}
	}
	return w.put(it)
}

func (w *writer) put(it item) *item {
	w.items = append(w.items, &it)
	if it.seq > 0 {
		w.shown[it.seq] = true
	}
	return &it
}

// plan collects the items.
func (w *writer) plan(bytes int) {
	w.put(item{section: sectionHead, head: Head(w.Session), pieces: []piece{{weight: weightEnd + 1}}})
	if len(w.log) == 0 {
		return
	}
	w.planEnd()
	w.planAsked(bytes / 6)
	w.planDecision()
	w.planLines()
	w.planNotes()
	w.planWithdrawn()
	most := bytes/40 + 1 // more items than fit
	w.planThoughts(most)
}

// Head describes a session in one line: its id, its state and its counts.
func Head(s *sequent.Session) string {
	h := s.Header()
	parts := []string{string(h.ID) + " " + string(h.State), printable.Count(h.Len, "thought", "thoughts")}
	if h.Branches > 0 {
		parts = append(parts, printable.Count(h.Branches, "branch", "branches"))
	}
	if h.Revisions > 0 {
		parts = append(parts, printable.Count(h.Revisions, "revision", "revisions"))
	}
	if f := s.Fault(); f != nil {
		parts = append(parts, "not what was recorded: "+f.String())
	}
	return strings.Join(parts, ", ")
}

// planEnd says how the session ended, or where it stands.
func (w *writer) planEnd() {
	if text := w.Session.Conclusion(); text != "" {
		w.add(item{section: sectionEnd, head: "conclusion:"}, text, weightEnd, weightEndMore, 2)
	}
	last := w.log[len(w.log)-1]
	name := "stands at"
	switch {
	case w.Session.State() == sequent.Completed && w.Session.Conclusion() == "":
		name = "conclusion"
	case w.Session.State() == sequent.Completed:
		return
	}
	w.add(item{section: sectionEnd, head: name + " " + Name(last) + w.mark(last) + ":", seq: last.Seq}, last.Text, weightEnd, weightEndMore, 2)
}

// planDecision adds the thought that decides among lines: the latest one with a
// verdict, otherwise the latest one that names several branches.
func (w *writer) planDecision() {
	t, ok := w.decision()
	if !ok || w.shown[t.Seq] {
		return
	}
	it := w.add(item{section: sectionDecision, head: "decision " + Name(t) + w.mark(t) + ":", seq: t.Seq}, t.Text, weightDecision, weightReasons, 0.5)
	for i := range it.pieces {
		if p := &it.pieces[i]; slices.ContainsFunc(w.lines, func(l sequent.Line) bool { return names(p.text, l.Label) }) {
			p.weight = max(p.weight, weightVerdict)
		}
	}
}

func (w *writer) decision() (sequent.Thought, bool) {
	decisions := w.Session.Decisions()
	for _, d := range slices.Backward(decisions) {
		if w.holds(d.Seq) {
			return w.log[d.Seq-1], true
		}
	}
	room := 256 << 10 // bytes that are searched for the names of all branches
	for _, t := range slices.Backward(w.log) {
		if room -= len(t.Text); room < 0 {
			break
		}
		named := 0
		for _, l := range w.lines {
			if l.Label != t.Branch && names(t.Text, l.Label) {
				named++
			}
		}
		if named > 1 && w.holds(t.Seq) && !w.shown[t.Seq] {
			return t, true
		}
	}
	return sequent.Thought{}, false
}

// holds reports whether a thought was not replaced.
func (w *writer) holds(seq int) bool { return w.Standings[seq-1].State != sequent.Superseded }

// planNotes adds what people said, and what the log shows and its author may have missed.
func (w *writer) planNotes() {
	var all []string
	for _, n := range w.Session.Notes() {
		all = append(all, Note(w.log[n.Seq-1], n))
	}
	for _, t := range w.log {
		for _, text := range w.Found[t.Seq] {
			all = append(all, "look at "+Name(t)+": "+text)
		}
	}
	for _, text := range all {
		w.put(item{section: sectionNotes, pieces: []piece{{text: text, weight: weightNote}}})
	}
}

// planWithdrawn adds what each claim was replaced by, the latest change of mind, and
// which earlier thoughts were not looked at since.
func (w *writer) planWithdrawn() {
	if chains := w.chains(); len(chains) > 0 {
		it := item{section: sectionWithdrawn, head: "withdrawn:"}
		for i, c := range chains {
			if i < len(chains)-1 {
				c += ";"
			}
			it.pieces = append(it.pieces, piece{text: c, weight: weightWithdrawn - float64(i)/100})
		}
		w.put(it)
	}
	if aimless := list(w.log, func(t *sequent.Thought) bool { return t.Revision && t.Supersedes == 0 }); aimless != "" {
		w.put(item{section: sectionWithdrawn, head: "revisions that name no thought:", pieces: []piece{{text: aimless, weight: weightWithdrawn - 1}}})
	}
	cause, revisions := w.change()
	if cause == 0 {
		return
	}
	t := w.log[cause-1]
	head := "revised after " + Name(t) + ": " + list(revisions, func(*sequent.Thought) bool { return true }) + "."
	if w.shown[cause] || !w.holds(cause) {
		w.put(item{section: sectionChange, head: head, pieces: []piece{{weight: weightChange}}})
	} else {
		w.add(item{section: sectionChange, head: head + " " + Name(t) + ":", seq: cause}, t.Text, weightChange, weightCause, 1)
	}
	if before := list(w.log[:cause-1], func(t *sequent.Thought) bool { return w.holds(t.Seq) }); before != "" {
		w.put(item{section: sectionChange, head: "not looked at since:", pieces: []piece{{text: before, weight: weightBefore}}})
	}
}

// planThoughts adds thoughts that hold and are not in another section: at most the given
// number of revisions, and of the others, the newest first.
func (w *writer) planThoughts(most int) {
	plain, revisions := 0, 0
	for _, t := range slices.Backward(w.log) {
		if w.shown[t.Seq] || !w.holds(t.Seq) {
			continue
		}
		rank := &plain
		if t.Supersedes > 0 || t.Revision {
			rank = &revisions
		}
		if *rank++; *rank > most {
			continue
		}
		weight, decay := weightThought-float64(plain)/2, 10.0
		if rank == &revisions {
			weight, decay = weightRevision-float64(revisions)/100, 2
		}
		switch {
		case t.Final: // the session was completed before
			weight = weightFinal
		case w.Standings[t.Seq-1].State.GivenUp():
			weight -= 5
		}
		w.add(item{section: sectionThoughts, head: Name(t) + w.mark(t), seq: t.Seq}, t.Text, weight, weight-decay, decay)
	}
}

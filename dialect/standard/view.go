package standard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/reference"
)

// The views of a session.
const (
	viewEffective = "effective"
	viewLog       = "log"
	viewOutline   = "outline"
)

// mainLine is the name of the main line, unless a branch has this name.
const mainLine = "main"

// footer is the number of bytes reserved for the line about thoughts that are left out.
const footer = 80

// session writes the thoughts of a session.
func (p *page) session(ctx context.Context, s *sequent.Session, in recallArgs) error {
	in.View = cmp.Or(in.View, viewEffective)
	line, whole := "", in.Branch == ""
	if !whole {
		var err error
		if line, err = lineNamed(s, "branchId", in.Branch); err != nil {
			return err
		}
	}
	known, before := s.Len(), 0 // thoughts at the first page, and the row before which this one ends
	if in.Cursor != "" {
		if _, err := fmt.Sscanf(in.Cursor, "%d-%d", &known, &before); err != nil || known > s.Len() || before < 1 {
			return errCursor
		}
	}
	v := newView(s.Upto(known), s, in.View, line, whole) // later thoughts do not move the cursor
	rows := v.rows
	if before > len(rows) {
		return errCursor
	}
	head := v.heading(line)
	switch {
	case len(rows) == 0:
		p.line(head + ": no thoughts yet")
		return nil
	case before > 0:
		if known < s.Len() {
			head += fmt.Sprintf(", as it was after %d", known)
		}
		rows = rows[:before]
	}
	heads := []string{head}
	if before == 0 {
		heads = append(heads, v.above(line)...)
	}
	return p.rows(ctx, v, rows, heads, in)
}

// rows writes heads in at most half of the room, and the rows that fit.
func (p *page) rows(ctx context.Context, v *view, rows []sequent.Thought, heads []string, in recallArgs) error {
	first := in.Cursor == ""
	most := min(200, p.room/6)
	headed := func(beside int) string { // with the problem, unless the thought beside it says that
		about := brief.About(v.now, beside, most)
		about.Conclusion = "" // it is among the heads or the rows
		return strings.Join(slices.Insert(slices.Clone(heads), 1, about.Lines()...), "\n")
	}
	above := headed(0)
	texts, from := v.choose(rows, p.room-min(len(above), p.room/2)-footer, in.Limit, first)
	left := len(rows) - len(texts)
	cursor := func(before int) string { return in.cursor(fmt.Sprintf("%d-%d", v.s.Len(), before)) }
	if first && left > 0 && in.View == viewEffective && v.whole && in.Limit == 0 {
		return p.brief(ctx, v.now, cursor(len(rows)))
	}
	if _, shown := texts[0]; !first {
		above = strings.Join(heads, "\n")
	} else if shown && !v.replaced(rows[0]) {
		above = headed(rows[0].Seq)
	}
	p.line(cut(above, p.room/2))
	for i := range rows {
		if text, ok := texts[i]; ok {
			p.line(shorten(text, p.room-footer-1, dialect.Tokens(text)+(len(above)+footer)/bytesPerToken+2))
		}
	}
	if left > 0 {
		p.line(fmt.Sprintf("%d earlier left out: cursor %q", left, cursor(from)))
	}
	return nil
}

// brief writes what the session came to, and a cursor for its thoughts.
func (p *page) brief(ctx context.Context, s *sequent.Session, cursor string) error {
	more := fmt.Sprintf("in full, the newest first: cursor %q", cursor)
	text, left, err := brief.Write(ctx, s, p.room-len(more)-2)
	if err != nil {
		return err
	}
	p.line(text)
	if left > 0 {
		p.line(more)
	}
	return nil
}

// choose selects the rows to show in room bytes: the newest row, whatever its size; on the
// first page, those that ended the session, the newest first, in at most half of the room; and the
// newest of the rest. It returns their texts by index. All rows from some index on are
// shown. A limit of 0 means none.
func (v *view) choose(rows []sequent.Thought, room, limit int, first bool) (texts map[int]string, from int) {
	texts = make(map[int]string)
	limit = cmp.Or(limit, len(rows))
	take := func(i, most int) bool {
		if _, taken := texts[i]; taken {
			return true
		}
		if len(texts) >= limit {
			return false
		}
		text := v.text(rows[i])
		if len(text)+1 > most {
			return false
		}
		texts[i] = text
		room -= len(text) + 1
		return true
	}
	newest := len(rows) - 1
	texts[newest] = v.text(rows[newest])
	room -= len(texts[newest]) + 1
	for i, half := newest-1, room/2; first && i >= 0; i-- {
		if rows[i].Final && !v.replaced(rows[i]) && !take(i, room-half) {
			break
		}
	}
	for from = newest; from > 0 && take(from-1, room); from-- {
	}
	return texts, from
}

// shorten truncates a thought that is larger than the page, and adds the token budget that
// shows all of it.
func shorten(text string, room, tokens int) string {
	if len(text) <= room {
		return text
	}
	mark := fmt.Sprintf("\n  (cut, %d tokens more: maxTokens %d shows all)", dialect.Tokens(text)-room/bytesPerToken, tokens)
	return cut(text, max(room-len(mark), 0)) + mark
}

// A view is what pages show of a session.
type view struct {
	s, now    *sequent.Session // as it was at the first page, and as it is
	name      string
	whole     bool // all lines
	rows      []sequent.Thought
	standings []sequent.Standing   // of all thoughts, as they are now
	by        map[int]int          // the thought that replaces one in this view, by Seq
	rejected  map[int]sequent.Line // lines that are one row, by the Seq of their first thought
	depths    map[int]int          // of the thoughts in an outline, by Seq
}

// newView returns a view of one line, or of all of them.
func newView(s, now *sequent.Session, name, line string, whole bool) *view {
	v := &view{
		s: s, now: now, name: name, whole: whole, standings: now.Standings(),
		by: make(map[int]int), rejected: make(map[int]sequent.Line), depths: make(map[int]int),
	}
	var log []sequent.Thought
	if whole {
		log = s.Thoughts()
	} else {
		log = s.Path(line)
	}
	shown := make(map[int]bool)
	for _, t := range log {
		shown[t.Seq] = true
	}
	// On one line its own revisions count, whatever was decided about it since.
	for _, t := range slices.Backward(log) {
		if st := v.standings[t.Seq-1]; whole && st.State == sequent.Superseded && shown[st.By] {
			v.by[t.Seq] = st.By
		}
		if old := t.Supersedes; !whole && shown[old] && v.by[old] == 0 {
			v.by[old] = cmp.Or(v.by[t.Seq], t.Seq)
		}
	}
	switch {
	case name == viewOutline:
		v.rows = log[:0]
		for _, e := range s.Outline() {
			if shown[e.Seq] {
				v.rows = append(v.rows, e.Thought)
				v.depths[e.Seq] = e.Depth
			}
		}
	case name == viewEffective && whole:
		v.rows = v.fold(log)
	default:
		v.rows = log
	}
	return v
}

// fold removes the thoughts of rejected lines from the log, but for the first of each.
func (v *view) fold(log []sequent.Thought) []sequent.Thought {
	lines := make(map[string]sequent.Line)
	for _, l := range v.s.Lines() {
		if l.Verdict == sequent.Rejected && l.Label != "" {
			lines[l.Label] = l
		}
	}
	return slices.DeleteFunc(log, func(t sequent.Thought) bool {
		l, ok := lines[t.Branch]
		if !ok || !v.standings[t.Seq-1].State.GivenUp() {
			return false
		}
		if t.Seq == l.First {
			v.rejected[t.Seq] = l
		}
		return t.Seq != l.First
	})
}

// replaced reports whether the view shows a thought as replaced.
func (v *view) replaced(t sequent.Thought) bool { return v.by[t.Seq] > 0 }

// text returns a row. Its lines after the first are indented, so that no text looks like
// another thought.
func (v *view) text(t sequent.Thought) string {
	l, rejected := v.rejected[t.Seq]
	switch {
	case rejected:
		end, _ := v.s.At(l.Last)
		return brief.Line(v.now, l) + ", ends " + brief.Name(end) + ": " + brief.Lead(end.Text, 160)
	case v.name == viewOutline:
		line := brief.Name(t) + v.mark(t) + " " + brief.Lead(t.Text, 80)
		return strings.Repeat(" ", min(v.depths[t.Seq], 8)) + strings.TrimRight(line, " ")
	case v.name == viewEffective && v.replaced(t): // keeps its place
		by, _ := v.s.At(v.by[t.Seq])
		return brief.Name(t) + " → " + brief.Name(by)
	}
	text := t.Text
	if t.Note != "" {
		text += "\nnote: " + t.Note
	}
	return strings.TrimRight(brief.Name(t)+v.mark(t)+" "+indent(text), " ")
}

// mark says what a thought does to another and what was done to it.
func (v *view) mark(t sequent.Thought) string {
	var marks []string
	old, replaces := v.s.At(t.Supersedes)
	n, revises := t.Revises.Number()
	switch {
	case replaces:
		marks = append(marks, "replaces "+brief.Name(old))
	case revises:
		marks = append(marks, fmt.Sprintf("revises #%d", n))
	case t.Revision:
		marks = append(marks, "revision")
	}
	by, replaced := v.s.At(v.by[t.Seq])
	switch st := v.standings[t.Seq-1]; {
	case replaced:
		marks = append(marks, "replaced by "+brief.Name(by))
	case st.State == sequent.Superseded: // by a thought that this view does not show
		by, _ := v.now.At(st.By)
		marks = append(marks, "replaced by "+brief.Name(by)+" since")
	case st.State == sequent.Disputed, st.State.GivenUp():
		marks = append(marks, string(st.State))
	}
	if t.Final {
		marks = append(marks, "final")
	}
	if len(marks) == 0 {
		return ""
	}
	return " (" + strings.Join(marks, ", ") + ")"
}

// heading describes the page.
func (v *view) heading(line string) string {
	what := v.name
	switch {
	case !v.whole && line == "":
		what += " of " + mainLine
	case !v.whole:
		what += " of " + line + " (pass branchId to go on there)"
	}
	if f := v.now.Fault(); f != nil {
		what += "; not what was recorded: " + f.String()
	}
	return fmt.Sprintf("%s %s, %s, %s", v.now.ID(), v.now.State(), thoughts(v.now.Len()), what)
}

// above returns what stands above the thoughts on the first page: the conclusion, the lines
// and people's notes.
func (v *view) above(line string) (heads []string) {
	if text := v.now.Conclusion(); text != "" {
		heads = append(heads, "conclusion: "+indent(text))
	}
	if text := v.lines(line); text != "" {
		heads = append(heads, text)
	}
	for _, n := range v.now.Notes() {
		if t, ok := v.now.At(n.Seq); ok {
			heads = append(heads, "note on "+brief.Note(t, n))
		}
	}
	return heads
}

// lines names the lines of the session with what was decided about them, or those other than
// the one that is shown.
func (v *view) lines(line string) string {
	const most = 40
	var all []string
	for _, l := range v.now.Lines() {
		text := brief.Line(v.now, l)
		if v.whole && text == mainLine || !v.whole && l.Label == line {
			continue
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return ""
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	head := "other lines: "
	if v.whole {
		head = "lines: "
	}
	return head + strings.Join(all, ", ")
}

// lineNamed returns the label of the line that an argument names.
func lineNamed(s *sequent.Session, field, name string) (label string, err error) {
	if label, err := reference.Line(s, name); name != "" && err == nil {
		return label, nil
	}
	fix := "leave " + field + " out: the session has no branches"
	if branches := s.Branches(); len(branches) > 0 {
		const most = 200 // bytes
		fix = "use one of " + cut(strings.Join(append([]string{mainLine}, branches...), ", "), most)
	}
	return "", &refusal{
		Code: codeBranchNotFound, Field: field, Message: fmt.Sprintf("the session has no branch %q", name), Fix: fix,
	}
}

var indents = strings.NewReplacer("\n", "\n  ", "\r", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ")

// indent indents the lines after the first.
func indent(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n")
	return indents.Replace(s)
}

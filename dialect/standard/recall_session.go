package standard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
)

// The views of a session.
const (
	viewEffective = "effective"
	viewLog       = "log"
	viewOutline   = "outline"
)

// mainLine is what recall calls the main line, unless a branch has that name.
const mainLine = "main"

// session shows the thoughts of one session.
func (p *page) session(ctx context.Context, engine *sequent.Engine, in recallArgs) error {
	s, err := engine.Session(ctx, sequent.ID(in.Session))
	if err != nil {
		return err
	}
	if in.View == "" {
		in.View = viewEffective
	}
	at := position{known: s.Len, before: -1}
	if in.Cursor != "" {
		if at, err = parsePosition(in, s); err != nil {
			return err
		}
	}
	old := s.Upto(at.known) // what has come since does not move what the cursor means
	line, whole, err := lineOf(old, in)
	if err != nil {
		return err
	}
	items := itemsOf(old, in.View, line, whole)
	if at.before > len(items) {
		return errCursor
	}

	p.line(cut(heading(s, in.View, line, whole), p.room/4))
	if in.Cursor == "" {
		if s.Conclusion != "" {
			p.line(cut("conclusion: "+indent(s.Conclusion), p.room/4))
		}
		if others := otherLines(s, line, whole, p.room/4); others != "" {
			p.line(others)
		}
	} else {
		items = items[:at.before]
		for i := range items {
			items[i].summary = false // they were on the first page
		}
	}
	if len(items) == 0 {
		p.line("no thoughts yet")
		return nil
	}
	p.items(items, in, func(before int) string {
		return position{known: at.known, before: before}.cursor(in, s)
	})
	return nil
}

// lineOf returns the line to show: the one asked for, else the one used last.
// Views of the whole session need none unless one was asked for.
func lineOf(s *sequent.Session, in recallArgs) (line string, whole bool, err error) {
	if in.Branch == "" {
		last, _ := s.Last()
		return last.Branch, in.View != viewEffective, nil
	}
	if _, ok := s.End(in.Branch); ok {
		return in.Branch, false, nil
	}
	if in.Branch == mainLine {
		return "", false, nil
	}
	r := &refusal{
		Code: codeBranchNotFound, Field: "branchId",
		Message: fmt.Sprintf("the session has no branch %q", in.Branch),
		Fix:     "leave branchId out: the session has no branches",
	}
	if branches := s.Branches(); len(branches) > 0 {
		const most = 200 // bytes
		r.Fix = "use one of " + cut(strings.Join(append([]string{mainLine}, branches...), ", "), most)
	}
	return "", false, r
}

// An item is a thought as it is shown.
type item struct {
	text    string
	summary bool // the thought ended the session, so it sums up what came before
}

func itemsOf(s *sequent.Session, view, line string, whole bool) []item {
	var items []item
	add := func(t sequent.Thought, text string) {
		items = append(items, item{text: text, summary: !t.More})
	}
	switch view {
	case viewOutline:
		on := make(map[int]bool)
		for _, t := range s.Path(line) {
			on[t.Seq] = true
		}
		for _, e := range s.Outline() {
			if whole || on[e.Seq] {
				add(e.Thought, outlined(s, e))
			}
		}
	case viewLog:
		log := slices.Collect(s.All())
		if !whole {
			log = s.Path(line)
		}
		for _, t := range log {
			mark := ""
			if n, ok := t.Revises.Number(); ok {
				mark = " (revises #" + number(n) + ")"
			}
			add(t, shown(t, mark))
		}
	default:
		for _, step := range s.Effective(line) {
			mark := ""
			if len(step.Replaced) > 0 {
				mark = " (replaces #" + number(step.Place) + ")"
			}
			add(step.Thought, shown(step.Thought, mark))
		}
	}
	return items
}

// shown is a thought in full. Its further lines are indented, so that no text
// can pass for another thought.
func shown(t sequent.Thought, mark string) string {
	if t.Revision && mark == "" {
		mark = " (revision)"
	}
	if !t.More {
		mark += " (final)"
	}
	text := t.Text
	if t.Note != "" {
		text += "\nnote: " + t.Note
	}
	return "#" + number(t.Number) + tag(t.Branch) + mark + " " + indent(text)
}

// outlined is a thought in one line.
func outlined(s *sequent.Session, e sequent.Entry) string {
	const most = 80 // bytes
	mark := ""
	if n, ok := e.Revises.Number(); ok {
		mark = " (revises #" + number(n) + ")"
	}
	if by, ok := s.At(e.SupersededBy); ok {
		mark += " (superseded by #" + number(by.Number) + tag(by.Branch) + ")"
	}
	if !e.More {
		mark += " (final)"
	}
	text := strings.Join(strings.Fields(cut(e.Text, 4*most)), " ")
	return strings.Repeat(" ", min(e.Depth, 8)) + "#" + number(e.Number) + tag(e.Branch) + mark + " " + cut(text, most)
}

// heading says what is shown.
func heading(s *sequent.Session, view, line string, whole bool) string {
	if line == "" {
		line = mainLine
	}
	what := view + " of " + line
	if whole {
		what = view
	}
	return string(s.ID) + " " + string(s.State) + ", " + thoughts(s.Len) + ", " + what + ": " + s.Title
}

// otherLines names the lines that are not shown, as far as there is room.
func otherLines(s *sequent.Session, line string, whole bool, room int) string {
	branches := s.Branches()
	if whole || len(branches) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("other lines:")
	if line != "" {
		b.WriteString(" " + mainLine)
	}
	for i, label := range branches {
		if label == line {
			continue
		}
		part := " " + label
		if origin, ok := s.Origin(label); ok {
			part += " from #" + number(origin.Number) + tag(origin.Branch)
		}
		if b.Len() > len("other lines:") {
			part = "," + part
		}
		if b.Len()+len(part) > room {
			fmt.Fprintf(&b, " and %d more", len(branches)-i)
			break
		}
		b.WriteString(part)
	}
	if b.Len() == len("other lines:") {
		return ""
	}
	return b.String()
}

func number(n int) string { return strconv.Itoa(n) }

func quote(s string) string { return `"` + s + `"` }

// tag names a thought's branch; nothing on the main line.
func tag(branch string) string {
	if branch == "" {
		return ""
	}
	return " [" + branch + "]"
}

func thoughts(n int) string {
	if n == 1 {
		return "1 thought"
	}
	return strconv.Itoa(n) + " thoughts"
}

// indent keeps the lines after the first apart from what begins a line of ours.
func indent(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n")
	return strings.NewReplacer("\n", "\n  ", "\r", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ").Replace(s)
}

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

// mainLine is the name of the main line, unless a branch has this name.
const mainLine = "main"

// session writes the thoughts of one session.
func (p *page) session(ctx context.Context, engine *sequent.Engine, in recallArgs) error {
	s, err := engine.Session(ctx, sequent.ID(in.Session))
	if err != nil {
		return err
	}
	return p.show(s, in)
}

// show writes the thoughts of s, as in asks for them.
func (p *page) show(s *sequent.Session, in recallArgs) error {
	if in.View == "" {
		in.View = viewEffective
	}
	var err error
	at := position{known: s.Len(), before: -1}
	if in.Cursor != "" {
		if at, err = parsePosition(in, s); err != nil {
			return err
		}
	}
	old := s.Upto(at.known) // later thoughts do not move the cursor
	line, whole, err := lineOf(old, in)
	if err != nil {
		return err
	}
	items := itemsOf(old, in.View, line, whole)
	if at.before > len(items) {
		return errCursor
	}

	h := heads{head: heading(s, in.View, line, whole)}
	if in.Cursor == "" {
		conclusion := ""
		if s.Conclusion() != "" {
			conclusion = "conclusion: " + indent(s.Conclusion())
		}
		h.add(conclusion, p.room/4)
		h.add(otherLines(s, line, whole), p.room/4)
	} else {
		if at.known < s.Len() {
			h.head += ", as it was after " + number(at.known)
		}
		items = items[:at.before]
		for i := range items {
			items[i].keep = ordinary // they were on the first page
		}
	}
	if len(items) == 0 {
		p.line(h.head + ": no thoughts yet")
		return nil
	}
	h.title = s.Title()
	p.items(items, in, h, func(before int) string {
		return position{known: at.known, before: before}.cursor(in, s)
	})
	return nil
}

// lineOf returns the line to show: the requested one, else the one used last. Views of
// the whole session have no line unless one is requested.
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

// An item is a thought and its text on the page.
type item struct {
	keep   int           // importance compared with neighbouring items
	least  int           // bytes that the text has at least
	render func() string // the text; most items of a large session are not shown
	text   *string       // what render has returned
}

func (it *item) String() string {
	if it.text == nil {
		it.text = new(it.render())
	}
	return *it.text
}

// The importance of an item.
const (
	ordinary = iota
	summary  // the thought completed the session, so it summarises the previous ones
	latest   // the newest thought, which can revise a thought far above
)

func itemsOf(s *sequent.Session, view, line string, whole bool) []item {
	var items []item
	last, at := 0, 0
	add := func(t sequent.Thought, least int, render func() string) {
		if t.Seq > last {
			last, at = t.Seq, len(items)
		}
		it := item{least: least, render: render}
		if !t.More {
			it.keep = summary
		}
		items = append(items, it)
	}
	switch view {
	case viewOutline:
		on := make(map[int]bool)
		for _, t := range s.Path(line) {
			on[t.Seq] = true
		}
		for _, e := range s.Outline() {
			if whole || on[e.Seq] {
				add(e.Thought, 0, func() string { return outlined(s, e) })
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
			add(t, leastSize(t), func() string { return shown(t, mark) })
		}
	default:
		for _, step := range s.Effective(line) {
			mark := ""
			if len(step.Replaced) > 0 {
				mark = " (replaces #" + number(step.Place) + ")"
			}
			add(step.Thought, leastSize(step.Thought), func() string { return shown(step.Thought, mark) })
		}
	}
	if len(items) > 0 {
		items[at].keep = latest
	}
	return items
}

// leastSize returns the number of bytes that shown returns at least.
func leastSize(t sequent.Thought) int { return len(strings.TrimSpace(t.Text)) }

// shown returns a thought in full. Its lines after the first are indented, so that no
// text looks like another thought.
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
	return strings.TrimRight("#"+number(t.Number)+tag(t.Branch)+mark+" "+indent(text), " ")
}

// outlined returns a thought on one line.
func outlined(s *sequent.Session, e sequent.OutlineEntry) string {
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
	line := "#" + number(e.Number) + tag(e.Branch) + mark + " " + cut(text, most)
	return strings.Repeat(" ", min(e.Depth, 8)) + strings.TrimRight(line, " ")
}

// heading returns the description of the page without the title.
func heading(s *sequent.Session, view, line string, whole bool) string {
	what := view + " of " + line + " (pass branchId to go on there)"
	switch {
	case whole:
		what = view
	case line == "":
		what = view + " of " + mainLine
	}
	return string(s.ID()) + " " + string(s.State()) + ", " + thoughts(s.Len()) + ", " + what
}

// otherLines returns the names of the lines that are not shown.
func otherLines(s *sequent.Session, line string, whole bool) string {
	branches := s.Branches()
	if whole || len(branches) == 0 {
		return ""
	}
	const most = 40 // branches
	var others []string
	if line != "" && !slices.Contains(branches, mainLine) {
		others = append(others, mainLine)
	}
	for i, label := range branches {
		if label == line {
			continue
		}
		if len(others) == most {
			others = append(others, fmt.Sprintf("and %d more", len(branches)-i))
			break
		}
		if origin, ok := s.Origin(label); ok {
			label += " from #" + number(origin.Number) + tag(origin.Branch)
		}
		others = append(others, label)
	}
	if len(others) == 0 {
		return ""
	}
	return "other lines: " + strings.Join(others, ", ")
}

func number(n int) string { return strconv.Itoa(n) }

func quote(s string) string { return `"` + s + `"` }

// tag returns the name of a thought's branch, truncated because it is repeated for every
// thought; "" for the main line.
func tag(branch string) string {
	const most = 40 // bytes
	if branch == "" {
		return ""
	}
	return " [" + cut(branch, most) + "]"
}

func thoughts(n int) string {
	if n == 1 {
		return "1 thought"
	}
	return strconv.Itoa(n) + " thoughts"
}

// indent indents the lines after the first.
func indent(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n")
	return strings.NewReplacer("\n", "\n  ", "\r", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ").Replace(s)
}

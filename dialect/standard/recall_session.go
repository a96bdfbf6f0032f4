package standard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
)

// The views of a session.
const (
	viewEffective = "effective"
	viewLog       = "log"
	viewOutline   = "outline"
	viewCompare   = "compare"
)

// mainLine is the name of the main line, unless a branch has this name.
const mainLine = sequent.MainLine

// session writes the thoughts of one session.
func (p *page) session(ctx context.Context, engine *sequent.Engine, in recallArgs) error {
	s, err := engine.Session(ctx, sequent.ID(in.Session))
	if err != nil {
		return err
	}
	if err := p.show(s, in); err != nil {
		return err
	}
	p.follow(ctx, engine, s)
	return nil
}

// show writes the thoughts of s, as in asks for them.
func (p *page) show(s *sequent.Session, in recallArgs) error {
	if in.View == viewCompare {
		return p.compare(s, in.Branch)
	}
	at := position{known: s.Len(), before: -1}
	if in.Cursor != "" {
		var err error
		if at, err = parsePosition(in.Cursor, s); err != nil {
			return err
		}
		if err := at.check(&in, s); err != nil {
			return err
		}
	}
	if in.View == "" {
		in.View = viewEffective
	}
	line, whole, err := lineOf(s, in)
	if err != nil {
		return err
	}
	old := s.Upto(at.known) // later thoughts do not move the cursor
	v := newView(old, s, in.View, line, whole)
	items := v.items(sequent.StandingState(in.Status))
	at.view, at.status, at.line, at.whole = in.View, in.Status, line, whole
	cursor := func(before int) string { return at.until(before).cursor(s) }
	h := heads{head: heading(s, in, line, whole)}
	switch {
	case at.before > len(items):
		return errCursor
	case len(items) == 0:
		p.line(h.head + ": no thoughts" + map[bool]string{true: " yet"}[in.Status == ""])
		return nil
	case in.Cursor != "":
		if at.known < s.Len() {
			h.head += ", as it was after " + number(at.known)
		}
		items = items[:at.before]
		for i := range items {
			items[i].keep = ordinary // they were on the first page
		}
	default:
		p.addHeads(&h, s, line, whole)
		if in.View == viewEffective && whole && in.Limit == 0 && in.Status == "" && !p.fits(items, h) {
			return p.brief(s, cursor(len(items)))
		}
	}
	h.title = s.Title()
	p.items(items, in, h, cursor)
	return nil
}

// addHeads adds what stands above the thoughts on the first page.
func (p *page) addHeads(h *heads, s *sequent.Session, line string, whole bool) {
	if s.Conclusion() != "" {
		h.add("conclusion: "+indent(s.Conclusion()), p.room/4)
	}
	if whole {
		h.add(verdicts(s), p.room/4)
	} else {
		h.add(otherLines(s, line), p.room/4)
	}
	for _, n := range s.Notes() {
		if t, ok := s.At(n.Seq); ok {
			h.add("note on "+brief.Note(t, n), p.room/4)
		}
	}
}

// brief writes what the session came to, and a cursor for its thoughts.
func (p *page) brief(s *sequent.Session, cursor string) error {
	more := "in full, the newest first: cursor " + quote(cursor)
	text, left := brief.Write(s, p.room-len(more)-2)
	p.line(text)
	if left > 0 {
		p.line(more)
	}
	return nil
}

// lineOf returns the line to show. Without a requested one it is all of the session.
func lineOf(s *sequent.Session, in recallArgs) (line string, whole bool, err error) {
	if in.Branch == "" {
		return "", true, nil
	}
	line, err = lineNamed(s, in.Branch)
	return line, false, err
}

// lineNamed returns the label of the line with a name.
func lineNamed(s *sequent.Session, name string) (label string, err error) {
	if name != "" {
		if label, err := s.LineNamed(name); err == nil {
			return label, nil
		}
	}
	r := &refusal{
		Code: codeBranchNotFound, Field: "branchId",
		Message: fmt.Sprintf("the session has no branch %q", name),
		Fix:     "leave branchId out: the session has no branches",
	}
	if branches := s.Branches(); len(branches) > 0 {
		const most = 200 // bytes
		r.Fix = "use one of " + cut(strings.Join(append([]string{mainLine}, branches...), ", "), most)
	}
	return "", r
}

// heading returns the description of the page without the title.
func heading(s *sequent.Session, in recallArgs, line string, whole bool) string {
	what := in.View
	switch {
	case !whole && line == "":
		what += " of " + mainLine
	case !whole:
		what += " of " + line + " (pass branchId to go on there)"
	}
	if in.Status != "" {
		what += ", " + in.Status + " only"
	}
	return string(s.ID()) + " " + string(s.State()) + ", " + thoughts(s.Len()) + ", " + what
}

// verdicts names the lines with what was decided about them.
func verdicts(s *sequent.Session) string {
	lines := s.Lines()
	if len(lines) == 1 {
		return ""
	}
	const most = 40 // lines
	var all []string
	for i, l := range lines {
		if i == most {
			all = append(all, fmt.Sprintf("and %d more", len(lines)-i))
			break
		}
		if text := lineText(s, l); text != mainLine {
			all = append(all, text)
		}
	}
	return "lines: " + strings.Join(all, ", ")
}

// otherLines returns the names of the lines that are not shown.
func otherLines(s *sequent.Session, line string) string {
	const most = 40 // lines
	var others []string
	lines := s.Lines()
	for i, l := range lines {
		if l.Label == line || l.Label == "" && slices.Contains(s.Branches(), mainLine) {
			continue
		}
		if len(others) == most {
			others = append(others, fmt.Sprintf("and %d more", len(lines)-i))
			break
		}
		others = append(others, lineText(s, l))
	}
	if len(others) == 0 {
		return ""
	}
	return "other lines: " + strings.Join(others, ", ")
}

// lineText names a line, where it leaves, and what was decided about it.
func lineText(s *sequent.Session, l sequent.Line) string {
	text := brief.Label(s, l.Label)
	if origin, ok := s.At(l.Origin); ok {
		text += " from " + brief.Name(origin)
	}
	switch by, ok := s.At(l.By); {
	case ok:
		text += " (" + string(l.Verdict) + " by " + brief.Name(by) + ")"
	case l.Left:
		text += " (left)"
	}
	return text
}

// follow adds what the sessions came to that the shown thoughts name by URI.
func (p *page) follow(ctx context.Context, engine *sequent.Engine, s *sequent.Session) {
	const most = 3
	named := namedSessions(p.text())
	named = slices.DeleteFunc(named, func(id sequent.ID) bool { return id == s.ID() })
	for _, id := range named[:min(len(named), most)] {
		other, err := engine.Session(ctx, id)
		if err != nil { // a text may name anything
			continue
		}
		text, _ := brief.Write(other, min(p.room-1, 320))
		if line := "see " + strings.ReplaceAll(text, "\n", "; "); len(line) < p.room {
			p.line(line)
		}
	}
}

// namedSessions returns the ids of the sessions whose URI is in a text, in order and each
// once.
func namedSessions(text string) (ids []sequent.ID) {
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, sessions+"/")
		if !ok {
			return ids
		}
		end := strings.IndexFunc(after, func(r rune) bool { return !idRune(r) })
		if end < 0 {
			end = len(after)
		}
		id := sequent.ID(strings.TrimRight(after[:end], ".-"))
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		rest = after[end:]
	}
}

func idRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

// compare writes where two lines part and what each has of its own. Names has two names
// of lines with a comma between them, or one, which is compared with the main line.
func (p *page) compare(s *sequent.Session, names string) error {
	branches := s.Branches()
	if names == "" && len(branches) == 1 {
		names = branches[0]
	}
	a, b, two := strings.Cut(names, ",")
	if _, ok := s.End(names); ok && names != "" { // the name of a branch can have a comma
		a, two = names, false
	}
	if !two {
		b = mainLine
	}
	if names == "" {
		r := &refusal{
			Code: codeInvalidArgument, Field: "branchId",
			Message: "branchId does not say which lines to compare",
			Fix:     "use another view: the session has one line",
		}
		if len(branches) > 0 {
			r.Fix = "name two of " + cut(strings.Join(append([]string{mainLine}, branches...), ", "), 200)
		}
		return r
	}
	lineA, err := lineNamed(s, strings.TrimSpace(a))
	if err != nil {
		return err
	}
	lineB, err := lineNamed(s, strings.TrimSpace(b))
	if err != nil {
		return err
	}
	const footer = 80 // bytes
	text, left := brief.Compare(s, lineA, lineB, p.room-footer)
	p.line(text)
	if left > 0 {
		p.line(thoughts(left) + " not shown whole: maxTokens, or branchId with view effective")
	}
	return nil
}

func number(n int) string { return strconv.Itoa(n) }

func quote(s string) string { return `"` + s + `"` }

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

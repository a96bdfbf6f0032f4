package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// The views of sequent show, and the orders of lists.
const (
	viewTree      = "tree"
	viewLog       = "log"
	viewEffective = "effective"
	viewOutline   = "outline"

	newestFirst = "newest"
)

// longList is the number of thoughts above which a list begins with the newest.
const longList = 40

// A view has the flags of sequent show that decide what is shown.
type view struct {
	kind, branch, from, to, order string
	full                          bool
	compared                      []string // lines
}

// check checks the flags with each other and sets the default of kind.
func (v *view) check() error {
	part := v.branch != "" || v.from != "" || v.to != ""
	if len(v.compared) > 0 {
		if part || v.kind != "" || v.order != "" || v.full {
			return &usageError{
				msg: "--compare is a view of its own",
				fix: "leave out --view, --branch, --from, --to, --order and --full",
			}
		}
		return nil
	}
	if v.kind == "" {
		v.kind = viewTree
		if part || v.order != "" {
			v.kind = viewLog
		}
	}
	switch {
	case v.kind == viewTree && (part || v.order != ""):
		return &usageError{
			msg: "--branch, --from, --to and --order have no effect in the view tree",
			fix: "use --view log, effective or outline",
		}
	case v.kind != viewTree && v.full:
		return &usageError{msg: "--full has no effect in the view " + v.kind + ", which folds nothing", fix: "remove it, or --view"}
	case v.kind == viewOutline && v.order != "":
		return &usageError{
			msg: "--order has no effect in the view outline, which is in reading order",
			fix: "use --view log or effective",
		}
	}
	return nil
}

func runShow(p *program, ctx context.Context) (result, error) {
	v := &p.view
	if err := v.check(); err != nil {
		return nil, err
	}
	found, err := p.refer(ctx, p.engine, p.args)
	if err != nil {
		return nil, err
	}
	s := found.session
	switch {
	case len(v.compared) > 0:
		if err := found.whole("--compare"); err != nil {
			return nil, err
		}
		return compareLines(ctx, s, v.compared)
	case found.reference.NamesThought():
		if v.kind != viewTree {
			return nil, &usageError{
				msg: found.reference.String() + " names one thought, so a view or a range has no effect",
				fix: "leave out the thought, or --view, --branch, --from and --to",
			}
		}
		t, err := s.Resolve(found.reference)
		return &shownThought{newThoughtList(s, t)}, err
	case v.kind == viewOutline:
		return outlineOf(s, v)
	case v.kind != viewTree:
		return thoughtsOf(s, v)
	case p.json:
		h, entries, err := found.engine.Entries(ctx, s.ID(), sequent.Position{})
		return document(archive.Log(h, entries)), err
	}
	return &tree{s, v.full}, nil
}

// A tree is a session that is drawn as one.
type tree struct {
	session *sequent.Session
	full    bool
}

func (t *tree) text(pg *page) {
	s := t.session
	o := pg.drawingOf(s)
	o.Full = t.full
	o.Command = func(reference string, flags ...string) string {
		return pg.nextFor(s.Owner(), append([]string{"show", reference}, flags...)...)
	}
	d := draw.Session(s, o)
	if last, ok := s.Last(); ok && s.Len() > longList { // it is far below
		newest := draw.Cut(draw.Line{
			{Text: "Newest: ", Role: draw.Meta},
			{Text: pg.one(s.Reference(last.Seq).Short()) + "  ", Role: draw.Number},
			{Text: pg.one(last.Text)},
		}, o)
		d.Lines = slices.Insert(d.Lines, len(draw.Header(s, o)), newest, nil)
	}
	pg.add(d.Lines...)
	if line := pg.failure(s); line != "" {
		pg.add(nil)
		pg.beside("", line+" To resume: "+pg.nextFor(s.Owner(), s.Dialect(), "resume", string(s.ID())), draw.Newest)
	}
	if d.Folded {
		pg.add(nil)
		pg.beside("", "Parts are folded. Pass --full to show everything.", draw.Fold)
	}
	if h := s.Header(); t.full && h.Entries > 0 {
		pg.add(nil, draw.Line{{Text: "Head " + h.Head.String(), Role: draw.Meta}})
	}
}

// A thoughtList is thoughts of a session.
type thoughtList struct {
	Thoughts []jsonShown `json:"thoughts"`

	session    *sequent.Session
	thoughts   []sequent.Thought
	conclusion bool // follows them
}

// A jsonShown is a thought of a session in JSON output.
type jsonShown struct {
	Ref string `json:"ref"` // the reference to it, such as 7k3m#pool#9
	jsonThought
}

func newThoughtList(s *sequent.Session, thoughts ...sequent.Thought) thoughtList {
	l := thoughtList{Thoughts: []jsonShown{}, session: s, thoughts: thoughts}
	for _, t := range thoughts {
		l.Thoughts = append(l.Thoughts, jsonShown{s.Reference(t.Seq).String(), newJSONThought(s.ID(), t)})
	}
	return l
}

// thoughtsOf returns the thoughts of the views log and effective.
func thoughtsOf(s *sequent.Session, v *view) (result, error) {
	line, first, last, err := v.bounds(s)
	if err != nil {
		return nil, err
	}
	var thoughts []sequent.Thought
	switch {
	case v.kind == viewEffective:
		for _, step := range within(s.Effective(line), first, last) {
			thoughts = append(thoughts, step.Thought)
		}
	case v.branch != "":
		thoughts = s.Path(line)
	default:
		thoughts = s.Thoughts()
	}
	if v.kind == viewLog {
		thoughts = slices.DeleteFunc(thoughts, func(t sequent.Thought) bool { return t.Seq < first || t.Seq > last })
	}
	if v.order == newestFirst {
		slices.Reverse(thoughts)
	}
	l := newThoughtList(s, thoughts...)
	l.conclusion = v.kind == viewEffective && v.from == "" && v.to == ""
	return &l, nil
}

func (l *thoughtList) text(pg *page) {
	o := pg.drawingOf(l.session)
	pg.add(draw.Header(l.session, o)...)
	note := ""
	switch {
	case len(l.thoughts) == 0:
		note = "No thoughts are selected."
	case pg.view.order == "" && len(l.thoughts) > longList && isTerminal(pg.out):
		slices.Reverse(l.thoughts)
		note = fmt.Sprintf("%s, newest first; --order oldest reverses it.", printable.Count(len(l.thoughts), "thought", "thoughts"))
	}
	if note != "" {
		pg.beside("", note, draw.Meta)
		pg.add(nil)
	}
	pg.add(draw.List(l.session, l.thoughts, o)...)
	if l.conclusion {
		pg.add(draw.Conclusion(l.session, o)...)
	}
}

// A shownThought is a thought that is shown with those next to it.
type shownThought struct{ thoughtList }

func (l *shownThought) text(pg *page) {
	l.thoughtList.text(pg)
	s, t := l.session, l.thoughts[0]
	row := func(what string, t sequent.Thought) {
		pg.add(draw.Cut(draw.Line{
			{Text: fmt.Sprintf("%-11s ", what), Role: draw.Tag},
			{Text: s.Reference(t.Seq).Short() + "  " + pg.one(t.Text), Role: draw.Meta},
		}, pg.Options))
	}
	pg.add(nil)
	if before, ok := s.At(t.After); ok {
		row("follows", before)
	}
	for next := range s.Since(t.Seq) {
		switch {
		case next.Supersedes == t.Seq:
			row("replaced by", next)
		case next.After == t.Seq && next.Branch != t.Branch:
			row("branch "+pg.one(next.Branch), next)
		case next.After == t.Seq:
			row("leads to", next)
		}
	}
}

// An outline is a session with a row for each thought.
type outline struct {
	thoughtList
	entries []sequent.OutlineEntry
}

// outlineOf returns the view outline.
func outlineOf(s *sequent.Session, v *view) (result, error) {
	line, first, last, err := v.bounds(s)
	if err != nil {
		return nil, err
	}
	path := map[int]bool{} // Seqs of the thoughts of a line
	if v.branch != "" {
		for _, t := range s.Path(line) {
			path[t.Seq] = true
		}
	}
	var thoughts []sequent.Thought
	var entries []sequent.OutlineEntry
	for _, e := range s.Outline() {
		if e.Seq >= first && e.Seq <= last && (v.branch == "" || path[e.Seq]) {
			entries, thoughts = append(entries, e), append(thoughts, e.Thought)
		}
	}
	return &outline{newThoughtList(s, thoughts...), entries}, nil
}

func (l *outline) text(pg *page) {
	o := pg.drawingOf(l.session)
	pg.add(draw.Header(l.session, o)...)
	pg.add(draw.Outline(l.session, l.entries, o)...)
}

// bounds returns the line of a view, and the positions in the log of its first and last thought.
func (v *view) bounds(s *sequent.Session) (line string, first, last int, err error) {
	if line, err = s.LineNamed(v.branch); err != nil {
		return "", 0, 0, err
	}
	bound := func(text string, otherwise int) int {
		if text == "" || err != nil {
			return otherwise
		}
		var t sequent.Thought
		t, err = thoughtOf(s, line, text)
		return t.Seq
	}
	first, last = bound(v.from, 1), bound(v.to, s.Len())
	if err == nil && first > last && v.from != "" && v.to != "" {
		err = &usageError{
			msg: fmt.Sprintf("--from %s is @%d of the log, after --to %s, which is @%d", v.from, first, v.to, last),
			fix: "exchange them",
		}
	}
	return line, first, last, err
}

// thoughtOf returns the thought that a flag names. A number alone is searched on the path
// to the end of a line, so that the thoughts before a branch have their numbers.
func thoughtOf(s *sequent.Session, line, text string) (sequent.Thought, error) {
	r, err := s.ParseReference(text)
	if err != nil {
		return sequent.Thought{}, err
	}
	if n, ok := r.Number.Number(); ok && r.Branch == "" && r.Session == "" {
		if t, ok := s.Find(line, n); ok {
			return t, nil
		}
		r.Branch = line
	}
	return s.Resolve(r)
}

// within returns the steps of a chain from the one with thought first to the one with
// thought last, which may have been replaced.
func within(steps []sequent.Step, first, last int) []sequent.Step {
	has := func(seq int) func(sequent.Step) bool {
		return func(step sequent.Step) bool { return step.Seq == seq || slices.Contains(step.Replaced, seq) }
	}
	from, to := slices.IndexFunc(steps, has(first)), slices.IndexFunc(steps, has(last))
	if from < 0 { // the bound is on another line
		from = slices.IndexFunc(steps, func(step sequent.Step) bool { return step.Seq >= first })
	}
	if to < 0 {
		to = len(steps) - 1
		for to >= 0 && steps[to].Seq > last {
			to--
		}
	}
	if from < 0 || to < from {
		return nil
	}
	return steps[from : to+1]
}

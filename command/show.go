package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/reference"
)

// The views of sequent show.
const (
	viewTree      = "tree"
	viewLog       = "log"
	viewEffective = "effective"
	viewOutline   = "outline"
)

// A view has the flags of sequent show that decide what is shown.
type view struct {
	kind, branch, from, to string
	full                   bool
	compared               []string // lines
}

func runShow(p *program, ctx context.Context) (result, error) {
	v := &p.view
	found, err := p.refer(ctx, p.args)
	if err != nil {
		return nil, err
	}
	s, compare, part := found.session, len(v.compared) > 0, v.branch != "" || v.from != "" || v.to != ""
	switch {
	case found.reference.NamesThought():
		if compare || part || v.kind != "" {
			return nil, &usageError{
				msg: found.reference.String() + " names one thought, so a view, a range or --compare has no effect",
				fix: "leave out the thought, or --view, --branch, --from, --to and --compare",
			}
		}
		t, err := found.reference.Resolve(s)
		return newThoughtList(s, t), err
	case part && (compare || v.kind == viewTree):
		return nil, &usageError{
			msg: "--branch, --from and --to have no effect in the view tree and beside --compare",
			fix: "use --view log, effective or outline",
		}
	case compare:
		return compareLines(ctx, s, v.compared)
	case part || v.kind != "" && v.kind != viewTree:
		return v.thoughts(s)
	case p.json:
		h, entries, err := found.engine.Entries(ctx, s.ID(), sequent.Position{})
		return document(archive.Log(h, entries)), err
	}
	return &tree{s}, nil
}

// A tree is a session that is drawn as one.
type tree struct{ session *sequent.Session }

// longList is the number of thoughts above which a person sees the newest first.
const longList = 40

func (t *tree) text(pg *page) {
	s := t.session
	o := pg.drawingOf(s)
	o.Full = pg.view.full
	o.Command = func(reference string, flags ...string) string {
		return pg.nextFor(s.Owner(), append([]string{"show", reference}, flags...)...)
	}
	d := draw.Session(s, o)
	if last, ok := s.Last(); ok && s.Len() > longList { // it is far below
		newest := draw.Cut(draw.Line{
			{Text: "Newest: ", Role: draw.Meta},
			{Text: printable.Line(reference.To(s, last.Seq).Short()) + "  ", Role: draw.Number},
			{Text: printable.Line(last.Text)},
		}, o)
		d.Lines = slices.Insert(d.Lines, len(draw.Header(s, o)), newest, nil)
	}
	pg.add(d.Lines...)
	if o.State == plan.Failed {
		why := "The plan failed."
		if st, _ := plan.StateOf(s.Header()); st.Fault != nil {
			why = fmt.Sprintf("The phase %s failed: %s.", st.Fault.Phase, printable.Line(st.Fault.Message))
		}
		pg.add(nil)
		pg.beside("", why+" To resume: "+pg.nextFor(s.Owner(), s.Header().Dialect, "resume", string(s.ID())), draw.Newest)
	}
	if d.Folded {
		pg.add(nil)
		pg.beside("", "Parts are folded. Pass --full to show everything.", draw.Fold)
	}
	if h := s.Header(); o.Full && h.Entries > 0 {
		pg.add(nil, draw.Line{{Text: "Head " + h.Head.String(), Role: draw.Meta}})
	}
}

// drawingOf is drawing with the state of a plan that has failed.
func (p *program) drawingOf(s *sequent.Session) draw.Options {
	o := p.drawing()
	if st, _ := plan.StateOf(s.Header()); st.State == plan.Failed {
		o.State = plan.Failed
	}
	return o
}

// A thoughtList is thoughts of a session.
type thoughtList struct {
	Thoughts []jsonShown `json:"thoughts"`

	session    *sequent.Session
	thoughts   []sequent.Thought
	outline    []sequent.OutlineEntry // instead of the thoughts
	conclusion bool                   // follows them
}

// A jsonShown is a thought of a session in JSON output.
type jsonShown struct {
	Ref string `json:"ref"` // the reference to it, such as 7k3m#pool#9
	jsonThought
}

func newThoughtList(s *sequent.Session, thoughts ...sequent.Thought) *thoughtList {
	l := &thoughtList{Thoughts: []jsonShown{}, session: s, thoughts: thoughts}
	for _, t := range thoughts {
		l.Thoughts = append(l.Thoughts, jsonShown{reference.To(s, t.Seq).String(), jsonThought{s.ID(), t}})
	}
	return l
}

// thoughts returns what the views log, effective and outline show.
func (v *view) thoughts(s *sequent.Session) (result, error) {
	line, first, last, err := v.bounds(s)
	if err != nil {
		return nil, err
	}
	onLine := make(map[int]bool)
	for _, t := range s.Path(line) {
		onLine[t.Seq] = true
	}
	shown := func(seq int) bool { return seq >= first && seq <= last && (v.branch == "" || onLine[seq]) }
	var thoughts []sequent.Thought
	var outline []sequent.OutlineEntry
	switch v.kind {
	case viewEffective:
		steps := s.Effective(line)
		at := func(seq, otherwise int) int { // of the step with a thought, which may have been replaced
			i := slices.IndexFunc(steps, func(step sequent.Step) bool { return step.Seq == seq || slices.Contains(step.Replaced, seq) })
			if i < 0 {
				return otherwise
			}
			return i
		}
		for i := at(first, 0); i <= at(last, len(steps)-1); i++ {
			thoughts = append(thoughts, steps[i].Thought)
		}
	case viewOutline:
		for _, e := range s.Outline() {
			if shown(e.Seq) {
				outline, thoughts = append(outline, e), append(thoughts, e.Thought)
			}
		}
	default:
		thoughts = slices.DeleteFunc(s.Thoughts(), func(t sequent.Thought) bool { return !shown(t.Seq) })
	}
	l := newThoughtList(s, thoughts...)
	l.outline, l.conclusion = outline, v.kind == viewEffective && v.from == "" && v.to == ""
	return l, nil
}

func (l *thoughtList) text(pg *page) {
	o := pg.drawingOf(l.session)
	pg.add(draw.Header(l.session, o)...)
	switch {
	case len(l.outline) > 0:
		pg.add(draw.Outline(l.session, l.outline, o)...)
		return
	case len(l.thoughts) == 0:
		pg.beside("", "No thoughts are selected.", draw.Meta)
	case len(l.thoughts) > longList && isTerminal(pg.out):
		slices.Reverse(l.thoughts)
		pg.beside("", printable.Count(len(l.thoughts), "thought", "thoughts")+", newest first.", draw.Meta)
		pg.add(nil)
	}
	pg.add(draw.List(l.session, l.thoughts, o)...)
	if l.conclusion {
		pg.add(draw.Conclusion(l.session, o)...)
	}
}

// bounds returns the line of a view, and the positions in the log of its first and last thought.
func (v *view) bounds(s *sequent.Session) (line string, first, last int, err error) {
	if line, err = reference.Line(s, v.branch); err != nil {
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
	return line, first, last, err
}

// thoughtOf returns the thought that a flag names. A number alone is searched on the path
// to the end of a line, so that the thoughts before a branch have their numbers.
func thoughtOf(s *sequent.Session, line, text string) (sequent.Thought, error) {
	r, err := reference.Parse(s, text)
	if err != nil {
		return sequent.Thought{}, err
	}
	if n, ok := r.Number.Number(); ok && r.Branch == "" && r.Session == "" {
		if t, ok := s.Find(line, n); ok {
			return t, nil
		}
		r.Branch = line
	}
	return r.Resolve(s)
}

// mainLine is what people call the line without a label.
const mainLine = "main"

// A comparison is where two lines of a session part, what each has of its own that still holds, and
// how each ends.
type comparison struct {
	Session    sequent.ID `json:"session"`
	Lines      [2]string  `json:"lines"`
	Comparison string     `json:"comparison"`
}

func (c *comparison) text(pg *page) { pg.prose(c.Comparison) }

// compareLines compares the two lines that --compare names.
func compareLines(ctx context.Context, s *sequent.Session, names []string) (result, error) {
	fix := "the lines of the session " + string(s.ID()) + " are " + some(append([]string{mainLine}, s.Branches()...))
	if len(names) != 2 || names[0] == names[1] {
		return nil, &usageError{msg: "--compare requires two lines, such as --compare main,pool", fix: fix}
	}
	c := &comparison{Session: s.ID()}
	var lines [2]string
	for i, name := range names {
		line, err := reference.Line(s, name)
		if e, ok := errors.AsType[*sequent.Error](err); ok {
			e.Fix = fix
		}
		if err != nil {
			return nil, err
		}
		lines[i], c.Lines[i] = line, cmp.Or(line, mainLine)
	}
	var err error
	c.Comparison, _, err = brief.Compare(ctx, s, lines[0], lines[1], math.MaxInt)
	return c, err
}

package command

import (
	"fmt"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/draw"
)

// The views of sequent show, and the orders of lists.
const (
	viewTree      = "tree"
	viewLog       = "log"
	viewEffective = "effective"
	viewOutline   = "outline"

	newestFirst = "newest"
	oldestFirst = "oldest"
)

// longList is the number of thoughts above which a list begins with the newest.
const longList = 40

// A view has the flags of sequent show that decide what is shown.
type view struct {
	kind, branch, from, to, order string
	full                          bool
}

// selects reports whether the flags ask for a part of the session or a certain view.
func (v *view) selects() bool {
	return v.kind != viewTree || v.branch != "" || v.from != "" || v.to != ""
}

// check checks the flags with each other and sets the default of kind.
func (v *view) check() error {
	part := v.branch != "" || v.from != "" || v.to != ""
	if v.kind == "" {
		v.kind = viewTree
		if part || v.order != "" {
			v.kind = viewLog
		}
	}
	switch {
	case !slices.Contains([]string{viewTree, viewLog, viewEffective, viewOutline}, v.kind):
		return invalid("view", v.kind, "tree, log, effective or outline")
	case !slices.Contains([]string{"", newestFirst, oldestFirst}, v.order):
		return invalid("order", v.order, "newest or oldest")
	case v.kind == viewTree && (part || v.order != ""):
		return &usageError{msg: "--branch, --from, --to and --order have no effect in the view tree", fix: "use --view log, effective or outline"}
	case v.kind != viewTree && v.full:
		return &usageError{msg: "--full has no effect in the view " + v.kind + ", which folds nothing", fix: "remove it, or --view"}
	case v.kind == viewOutline && v.order != "":
		return &usageError{msg: "--order has no effect in the view outline, which is in reading order", fix: "use --view log or effective"}
	}
	return nil
}

// showView lists thoughts of a session.
func (p *program) showView(s *sequent.Session, v *view) error {
	line, err := s.LineNamed(v.branch)
	if err != nil {
		return err
	}
	first, last, err := v.bounds(s, line)
	if err != nil {
		return err
	}
	if v.kind == viewOutline {
		return p.showOutline(s, v, line, first, last)
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
		thoughts = slices.Collect(s.All())
	}
	if v.kind == viewLog {
		thoughts = slices.DeleteFunc(thoughts, func(t sequent.Thought) bool { return t.Seq < first || t.Seq > last })
	}
	newest := v.order == newestFirst || v.order == "" && len(thoughts) > longList && isTerminal(p.out) && !p.json
	if newest {
		slices.Reverse(thoughts)
	}
	if p.json {
		return p.writeThoughts(s, thoughts)
	}
	o := p.drawingOf(s)
	lines := draw.Header(s, o)
	note := ""
	switch {
	case len(thoughts) == 0:
		note = "No thoughts are selected."
	case newest && v.order == "":
		note = fmt.Sprintf("%s, newest first; --order oldest reverses it.", draw.Count(len(thoughts), "thought", "thoughts"))
	}
	if note != "" {
		lines = append(lines, draw.Beside(nil, note, draw.Meta, o)...)
		lines = append(lines, nil)
	}
	lines = append(lines, draw.List(s, thoughts, o)...)
	if v.kind == viewEffective && v.from == "" && v.to == "" {
		lines = append(lines, draw.Conclusion(s, o)...)
	}
	return p.print(lines...)
}

// showOutline prints one row for each thought of a view.
func (p *program) showOutline(s *sequent.Session, v *view, line string, first, last int) error {
	var path map[int]bool // Seqs of the thoughts of a line
	if v.branch != "" {
		path = make(map[int]bool)
		for _, t := range s.Path(line) {
			path[t.Seq] = true
		}
	}
	entries := slices.DeleteFunc(s.Outline(), func(e sequent.OutlineEntry) bool {
		return e.Seq < first || e.Seq > last || path != nil && !path[e.Seq]
	})
	if p.json {
		thoughts := make([]sequent.Thought, len(entries))
		for i, e := range entries {
			thoughts[i] = e.Thought
		}
		return p.writeThoughts(s, thoughts)
	}
	o := p.drawingOf(s)
	return p.print(append(draw.Header(s, o), draw.Outline(s, entries, o)...)...)
}

// bounds returns the positions in the log of the first and the last thought of a view.
func (v *view) bounds(s *sequent.Session, line string) (first, last int, err error) {
	first, last = 1, s.Len()
	for flag, text := range map[string]string{"from": v.from, "to": v.to} {
		if text == "" {
			continue
		}
		t, err := thoughtOf(s, line, text)
		if err != nil {
			return 0, 0, err
		}
		if flag == "from" {
			first = t.Seq
		} else {
			last = t.Seq
		}
	}
	if first > last && v.from != "" && v.to != "" {
		return 0, 0, &usageError{
			msg: fmt.Sprintf("--from %s is @%d of the log, after --to %s, which is @%d", v.from, first, v.to, last),
			fix: "exchange them",
		}
	}
	return first, last, nil
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

// A jsonShown is a thought of a session in JSON output.
type jsonShown struct {
	Ref string `json:"ref"` // the reference to it, such as 7k3m#pool#9
	jsonThought
}

// writeThoughts writes thoughts of a session as JSON.
func (p *program) writeThoughts(s *sequent.Session, thoughts []sequent.Thought) error {
	shown := []jsonShown{}
	for _, t := range thoughts {
		shown = append(shown, jsonShown{s.Reference(t.Seq).String(), newJSONThought(s.ID(), t)})
	}
	return writeJSON(p.out, struct {
		Thoughts []jsonShown `json:"thoughts"`
	}{shown})
}

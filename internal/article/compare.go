package article

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// maxColumn limits the thoughts of a column, and those that both lines share.
const maxColumn = 2000

// Compare returns two lines of a session beside each other: what both share once, then the thoughts that hold on each.
// It ends with an error when ctx is done.
func Compare(ctx context.Context, s *sequent.Session, one, other string, o Options) ([]byte, error) {
	w := newWriter(ctx, s, o)
	both, a, b := w.Part(one, other)
	w.WriteString(`<article class="page compare" aria-labelledby="title">` + "\n")
	w.header()
	if err := w.shared(both); err != nil {
		return nil, err
	}
	w.WriteString(`<div class="pair">` + "\n")
	concluded := false
	for i, steps := range [][]sequent.Step{a, b} {
		name := [2]string{one, other}[i]
		if err := w.column(name, []string{"left", "right"}[i], steps); err != nil {
			return nil, err
		}
		concluded = concluded || len(steps) > 0 && steps[len(steps)-1].Seq == w.Concluded
	}
	w.WriteString("</div>\n")
	if !concluded {
		w.o.Short = true // no more than how it ended
		w.abstract()
	}
	w.WriteString("</article>\n")
	return w.Bytes(), nil
}

// shared writes what two lines share.
func (w *writer) shared(steps []sequent.Step) error {
	if len(steps) == 0 {
		return nil
	}
	w.WriteString(`<section class="shared" aria-labelledby="both"><h2 class="cap" id="both">Both start from</h2>` + "\n")
	return w.list(steps)
}

// column writes what a line has of its own.
func (w *writer) column(name, id string, steps []sequent.Step) error {
	l := w.Lines[name]
	fmt.Fprintf(w, `<section class="%s-line" aria-labelledby="%s"><h2 class="cap" id="%s"><bdi>%s</bdi>%s <small>%s</small></h2>`+"\n",
		cmp.Or(string(l.Verdict), "going"), id, id, cmp.Or(line(name), "main line"), fate(l.Verdict), printable.Count(len(steps), "thought", "thoughts"))
	return w.list(steps)
}

// list writes the thoughts of a section, and ends it.
func (w *writer) list(steps []sequent.Step) error {
	w.WriteString(`<ol class="log">` + "\n")
	from := max(0, len(steps)-maxColumn)
	w.gap(from, "before")
	for _, step := range steps[from:] {
		if err := w.thought(&step.Thought, 0); err != nil {
			return err
		}
	}
	w.WriteString("</ol></section>\n")
	return nil
}

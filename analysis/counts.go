package analysis

import (
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
)

// Counts are numbers about sessions.
type Counts struct {
	Sessions  int                   `json:"sessions"`
	States    map[sequent.State]int `json:"states"`
	Thoughts  int                   `json:"thoughts"`
	Branches  int                   `json:"branches"`
	Revisions int                   `json:"revisions"`
	Notes     int                   `json:"notes"` // of people
}

func newCounts() Counts { return Counts{States: make(map[sequent.State]int)} }

// Count returns the counts of a report without reading a log. Errors are those of [Run].
func Count(ctx context.Context, e *sequent.Engine, q Query) (Counts, error) {
	c, n := newCorpus(e, q), newCounts()
	err := c.focus(ctx)
	if err == nil {
		err = c.headers(ctx, func(h sequent.Header) bool {
			if h.Len > 0 && c.about(&h) {
				n.add(&h)
			}
			return true
		})
	}
	return n, err
}

func (n *Counts) add(h *sequent.Header) {
	n.States[h.State]++
	n.Sessions, n.Thoughts, n.Branches = n.Sessions+1, n.Thoughts+h.Len, n.Branches+h.Branches
	n.Revisions, n.Notes = n.Revisions+h.Revisions, n.Notes+h.Notes
}

// Lines returns the counts in words, a line each.
func (n *Counts) Lines() []string {
	if n.Sessions == 0 {
		return []string{"No sessions match."}
	}
	var states []string
	for _, s := range []sequent.State{sequent.Completed, sequent.Active, sequent.Abandoned, sequent.Cancelled} {
		if n.States[s] > 0 {
			states = append(states, fmt.Sprintf("%d %s", n.States[s], s))
		}
	}
	return []string{
		fmt.Sprintf("Sessions   %d: %s", n.Sessions, strings.Join(states, ", ")),
		fmt.Sprintf("Thoughts   %d", n.Thoughts),
		fmt.Sprintf("Branches   %d", n.Branches),
		fmt.Sprintf("Revisions  %d", n.Revisions),
		fmt.Sprintf("Notes      %d of people", n.Notes),
	}
}

// Text returns the report for a model.
func (r *Report) Text() string {
	var b strings.Builder
	if r.Notice != "" {
		b.WriteString(r.Notice + "\n")
	}
	for _, line := range r.Counts.Lines() {
		b.WriteString(oneLine(line) + "\n")
	}
	for _, s := range r.Sections {
		b.WriteString("\n" + s.Title + ":\n")
		for _, f := range s.Findings {
			b.WriteString("- " + f.Title + "\n")
			for _, p := range f.Parts {
				fmt.Fprintf(&b, "  %s %s: %s\n", p.Ref, p.Says, p.Text)
			}
		}
		if s.More > 0 {
			fmt.Fprintf(&b, "(%d more)\n", s.More)
		}
	}
	if len(r.Sections) == 0 && r.Counts.Sessions > 0 {
		b.WriteString("\nNothing was left open, revised or repeated.\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

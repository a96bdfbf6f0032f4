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

// Count returns the counts of a report without reading a log. Errors are those of [Run].
func Count(ctx context.Context, e *sequent.Engine, q Query) (Counts, error) {
	c := newCorpus(e, q)
	if err := c.focus(ctx, e); err != nil {
		return Counts{}, err
	}
	n := Counts{States: make(map[sequent.State]int)}
	for h, err := range c.headers(ctx, e) {
		if err != nil {
			return Counts{}, err
		}
		if h.Len > 0 && c.about(h.Updated, h.Key) {
			n.add(&h)
		}
	}
	return n, nil
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

// A Section is a kind of findings, for people and models.
type Section struct {
	Title    string
	Findings []Finding
	More     int // findings that are left out
}

// Sections returns the findings, without kinds that have none.
func (r *Report) Sections() (all []Section) {
	for _, s := range []Section{
		{"Left open", r.Left, r.More["left"]},
		{"Conclusions that were revised or rejected", r.Revised, r.More["revised"]},
		{"Worth a look", r.Unclear, r.More["unclear"]},
		{"Assumptions that recur", r.Assumptions, r.More["assumptions"]},
		{"Problems that came up before", r.Problems, r.More["problems"]},
	} {
		if len(s.Findings) > 0 {
			all = append(all, s)
		}
	}
	return all
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
	sections := r.Sections()
	for _, s := range sections {
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
	if len(sections) == 0 && r.Counts.Sessions > 0 {
		b.WriteString("\nNothing was left open, revised or repeated.\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

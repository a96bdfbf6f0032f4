package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
)

// A Section is a kind of findings, for people and models.
type Section struct {
	Title string
	Items []Item
	More  int // findings that are left out
}

// An Item is a finding.
type Item struct {
	Head  string
	Parts []Part
}

// A Part is a thought of a finding.
type Part struct {
	Says string // what the thought does: asked, concluded
	Cite
}

// Sections returns the findings, without kinds that have none.
func (r *Report) Sections() []Section {
	left := Section{Title: "Left open", More: r.More["left"]}
	for _, l := range r.Left {
		item := Item{Head: title(l.Title) + " (" + string(l.State) + ")"}
		if l.Branch != "" {
			item.Head = title(l.Title) + " (branch " + l.Branch + " has no verdict)"
		}
		if l.Question != nil {
			item.Parts = append(item.Parts, Part{"asked last", *l.Question})
		}
		if l.Question == nil || l.Question.Seq != l.Last.Seq {
			item.Parts = append(item.Parts, Part{"stands at", l.Last})
		}
		left.Items = append(left.Items, item)
	}
	revised := Section{Title: "Conclusions that were revised or rejected", More: r.More["revised"]}
	by := map[string]string{BySession: "by a later session", ByNote: "by a person", ByDecision: "by a decision", ByRevision: "by a later thought"}
	for _, v := range r.Revised {
		revised.Items = append(revised.Items, Item{Head: title(v.Title), Parts: []Part{
			{"concluded", v.Conclusion}, {v.How + " " + by[v.Kind], v.By},
		}})
	}
	assumptions := Section{Title: "Assumptions that recur", More: r.More["assumptions"]}
	for _, a := range r.Assumptions {
		item := Item{Head: fmt.Sprintf("in %d sessions", len(a.Uses))}
		for _, u := range a.Uses {
			says := "assumed"
			if u.Standing != sequent.Current && u.Standing != sequent.Concluded {
				says += ", now " + string(u.Standing)
			}
			item.Parts = append(item.Parts, Part{says, u.Cite})
		}
		assumptions.Items = append(assumptions.Items, item)
	}
	problems := Section{Title: "Problems that came up before", More: r.More["problems"]}
	for _, p := range r.Problems {
		item := Item{Head: fmt.Sprintf("in %d sessions", len(p.Sessions))}
		for _, o := range p.Sessions {
			says := "ended with"
			if o.State != sequent.Completed {
				says = "is " + string(o.State) + " at"
			}
			item.Parts = append(item.Parts, Part{"was", o.Problem})
			if o.End.Seq != o.Problem.Seq {
				item.Parts = append(item.Parts, Part{says, o.End})
			}
		}
		problems.Items = append(problems.Items, item)
	}
	var all []Section
	for _, s := range []Section{left, revised, assumptions, problems} {
		if len(s.Items) > 0 {
			all = append(all, s)
		}
	}
	return all
}

func title(text string) string {
	if text == "" {
		return "(no title)"
	}
	return text
}

// Lines returns the counts in words, a line each.
func (n *Counts) Lines() []string {
	if n.Sessions == 0 {
		return []string{"No sessions."}
	}
	var states []string
	for _, s := range []sequent.State{sequent.Completed, sequent.Active, sequent.Abandoned, sequent.Cancelled} {
		if n.States[s] > 0 {
			states = append(states, fmt.Sprintf("%d %s", n.States[s], s))
		}
	}
	took := func(seconds int) string { return (time.Duration(seconds) * time.Second).String() }
	return []string{
		fmt.Sprintf("Sessions   %d: %s", n.Sessions, strings.Join(states, ", ")),
		fmt.Sprintf("Thoughts   %d; a session has %d (median), at most %d", n.Thoughts, n.Length.Median, n.Length.Max),
		fmt.Sprintf("Branches   %d", n.Branches),
		fmt.Sprintf("Revisions  %d", n.Revisions),
		fmt.Sprintf("Notes      %d of people", n.Notes),
		fmt.Sprintf("Recalls    %d of the thoughts name another session", n.Recalls),
		fmt.Sprintf("Time       %s from first to last thought (median), %s in nine of ten, at most %s", took(n.Seconds.Median), took(n.Seconds.P90), took(n.Seconds.Max)),
	}
}

// Text returns the report for a model.
func (r *Report) Text() string {
	var b strings.Builder
	if r.Notice != "" {
		b.WriteString(r.Notice + "\n")
	}
	for _, line := range r.Counts.Lines() {
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	sections := r.Sections()
	for _, s := range sections {
		b.WriteString("\n" + s.Title + ":\n")
		for _, item := range s.Items {
			b.WriteString("- " + item.Head + "\n")
			for _, p := range item.Parts {
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

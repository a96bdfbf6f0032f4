package analysis_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
)

// first is the day 0 of the corpus, a whole day before its last session.
var first = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// record records the sessions of testdata/corpus.txtar. It returns the answers.
func record(t *testing.T) (e *sequent.Engine, want []string) {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/corpus.txtar")
	if err != nil {
		t.Fatal(err)
	}
	now := first
	e = sequent.New(sequent.Config{Now: func() time.Time { return now }})
	for _, f := range ar.Files {
		lines := strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		if f.Name == "want" {
			want = lines
			continue
		}
		begun := first
		for _, line := range lines {
			verb, rest, _ := strings.Cut(line, " ")
			change := func(c *sequent.Change) error { return nil }
			switch verb {
			case "day":
				begun = first.AddDate(0, 0, number(t, rest))
				continue
			case "state":
				change = func(c *sequent.Change) error { c.SetState(sequent.State(rest)); return nil }
			case "reject":
				change = func(c *sequent.Change) error { return c.Decide(rest, sequent.Rejected) }
			case "note":
				kind, about, _ := strings.Cut(rest, " ")
				seq, text, _ := strings.Cut(about, " ")
				change = func(c *sequent.Change) error {
					return c.AddNote(sequent.Note{Kind: sequent.NoteKind(kind), Seq: number(t, seq), Text: text})
				}
			default:
				now = begun.Add(time.Duration(number(t, verb)) * time.Minute)
				change = func(c *sequent.Change) error {
					_, err := c.Append(draft(t, rest))
					return err
				}
			}
			if _, err := e.Ensure(t.Context(), sequent.ID(f.Name), change); err != nil {
				t.Fatalf("%s: %s: %v", f.Name, line, err)
			}
		}
	}
	return e, want
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// draft parses "branch#3<2. Text" and "4~3 Text".
func draft(t *testing.T, text string) sequent.Draft {
	t.Helper()
	where, text, _ := strings.Cut(text, " ")
	d := sequent.Draft{Text: text, More: true}
	if s, ok := strings.CutSuffix(where, "."); ok {
		where, d.More = s, false
	}
	if branch, rest, ok := strings.Cut(where, "#"); ok {
		d.Branch, where = branch, rest
	}
	if n, origin, ok := strings.Cut(where, "<"); ok {
		where, d.From = n, sequent.To(number(t, origin))
	}
	if n, old, ok := strings.Cut(where, "~"); ok {
		where, d.Revision, d.Revises = n, true, sequent.To(number(t, old))
	}
	d.Number = number(t, where)
	d.Total = d.Number
	return d
}

// findings returns a report in the form of the answers.
func findings(r *analysis.Report) []string {
	var all []string
	for _, l := range r.Left {
		line := strings.TrimSpace("left " + string(l.Last.Session) + " " + l.Branch)
		if l.Question != nil {
			line += " " + l.Question.Text
		}
		all = append(all, line)
	}
	for _, v := range r.Revised {
		by := strings.Replace(v.By.Ref, "#at-upload#", "#", 1)
		all = append(all, strings.Join([]string{"revised", string(v.Conclusion.Session), v.How, v.Kind, strings.Replace(by, "#on-demand#", "#", 1)}, " "))
	}
	for _, a := range r.Assumptions {
		line := "assumption"
		for _, u := range a.Uses {
			line += " " + u.Ref
		}
		all = append(all, line)
	}
	for _, p := range r.Problems {
		line := "problem"
		for _, o := range p.Sessions {
			line += " " + string(o.Problem.Session)
		}
		all = append(all, line)
	}
	return all
}

// TestCorpus checks all findings, and tells how many of them are right.
func TestCorpus(t *testing.T) {
	e, want := record(t)
	r, err := analysis.Run(t.Context(), e, analysis.Query{})
	if err != nil {
		t.Fatal(err)
	}
	got := findings(r)
	right := 0
	for _, g := range got {
		if slices.Contains(want, g) {
			right++
		} else {
			t.Errorf("found, and not in the answers: %s", g)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("not found: %s", w)
		}
	}
	t.Logf("precision %d of %d, recall %d of %d", right, len(got), right, len(want))
	if c := r.Counts; c.Sessions != 14 || c.Thoughts != 53 || c.Branches != 3 || c.Revisions != 1 || c.Notes != 1 || c.Recalls != 8 || c.Length.Max != 7 {
		t.Errorf("counts are %+v", c)
	}
}

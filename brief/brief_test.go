package brief_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/judged"
)

// read returns a session of testdata; see testdata/README.md.
func read(t *testing.T, name string) *sequent.Session {
	t.Helper()
	_, s, err := judged.Session(t.Context(), "testdata/"+name+".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestColleague checks what a colleague needs who goes on from a session of 21 thoughts:
// in 1,000 tokens all six groups, in 600 the first four.
func TestColleague(t *testing.T) {
	t.Parallel()
	s := read(t, "standard-double-charges")
	conclusion, _ := s.Last()
	groups := [][]string{
		{"completed", "conclusion #17: CONCLUSION. Cause, in order: (1) H1, about 80 %"},
		{
			"ends rebuild-index#10 (replaces rebuild-index#9)", "(constant a little in the FUTURE)", "today rebuild-index (A), future-dated",
			"then provider-key (C) with the order/attempt id", "B (primary-plus-lock) not taken: only co-operating code",
		},
		{"revised after #12: #13–#16.", "NEW FACT: in 9 of 11 double charges"},
		{"withdrawn: #3 → #13; #4 → #6 → #14; #7 → #15; rebuild-index#9 → rebuild-index#10; #10 → #16"},
		{"not looked at since: #1, #2, #5, #8, rebuild-index#10, primary-plus-lock#9, provider-key#9, #9, #11", conclusion.Text},
		{"Interval histogram per pair", "a standing alarm on any NOT indisvalid", "Still to check: pg_index flags"},
	}
	for tokens, groups := range map[int][][]string{600: groups[:4], 1000: groups} {
		text, left, _ := brief.Write(t.Context(), s, 4*tokens)
		if len(text) > 4*tokens || left == 0 {
			t.Errorf("%d tokens: %d bytes, %d thoughts left", tokens, len(text), left)
		}
		for i, group := range groups {
			for _, want := range group {
				if !strings.Contains(text, want) {
					t.Errorf("%d tokens: group %d lacks %q", tokens, i+1, want)
				}
			}
		}
		unsound(t, s, text)
		if t.Failed() {
			t.Logf("%d tokens:\n%s", tokens, text)
		}
	}
}

// unsound reports text of thoughts that were replaced.
func unsound(t *testing.T, s *sequent.Session, text string) {
	t.Helper()
	for i, st := range s.Standings() {
		old, _ := s.At(i + 1)
		if head, rest, ok := strings.Cut(text, "\nasked: "); ok && i == 0 { // what was asked is never hidden
			_, rest, ok = strings.Cut(rest, "\nnow: ")
			if text = head + rest; !ok && st.State == sequent.Superseded {
				t.Errorf("the problem was replaced, and the brief does not say by what:\n%s", text)
			}
		}
		if start := old.Text[:min(len(old.Text), 140)]; st.State == sequent.Superseded && strings.Contains(text, start) {
			t.Errorf("%s was replaced, but the brief shows it: %q", brief.Name(old), start)
		}
	}
}

// TestRevisionsWithoutTarget briefs a session of the dialect guided, whose revisions do
// not say what they revise.
func TestRevisionsWithoutTarget(t *testing.T) {
	t.Parallel()
	text, _, _ := brief.Write(t.Context(), read(t, "guided-double-charges"), 2400)
	for _, want := range []string{
		"conclusion #14: Conclusion. Cause 1", "claims-table from #7 (undecided), ends claims-table#10",
		"revisions that name no thought: #3, claims-table#10, #13",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the brief lacks %q:\n%s", want, text)
		}
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		record func(c *sequent.Change) error
		want   string
	}{
		"empty": {func(c *sequent.Change) error { return nil }, "s active, 0 thoughts"},
		"one":   {says(sequent.Draft{Number: 1, Text: "First."}), "s active, 1 thought\nstands at #1: First."},
		"asked otherwise": {
			says(
				sequent.Draft{Number: 1, Text: "Why is it slow?"},
				sequent.Draft{Number: 2, Text: "It is slow at noon."},
				sequent.Draft{Number: 3, Text: "Why is it slow at noon?", Revises: sequent.To(1)},
				sequent.Draft{Number: 4, Text: "The batch job runs then.", Final: true},
			),
			`s completed, 4 thoughts, 1 revision
asked: Why is it slow?
now: #3 Why is it slow at noon?
conclusion #4: The batch job runs then.
withdrawn: #1 → #3
#2 It is slow at noon.`,
		},
		"titled": {
			func(c *sequent.Change) error {
				c.SetTitle("Why is it slow?")
				return says(sequent.Draft{Number: 1, Text: "It is noon."})(c)
			},
			"s active, 1 thought\nasked: Why is it slow?\nstands at #1: It is noon.",
		},
		"verdicts and notes": {
			func(c *sequent.Change) error {
				return errors.Join(
					says(
						sequent.Draft{Number: 1, Text: "The cache is cold."},
						sequent.Draft{Number: 2, Branch: "warm-it", From: sequent.To(1), Text: "Warm it at the start."},
						sequent.Draft{Number: 2, Branch: "drop-it", From: sequent.To(1), Text: "Drop the cache."},
						sequent.Draft{Number: 2, Text: "Warm it: it is cheap."},
					)(c),
					c.Decide("warm-it", sequent.Chosen),
					c.Decide("drop-it", sequent.Rejected),
					c.AddNote(sequent.Note{Seq: 1, Kind: sequent.Wrong, Text: "it was\nwarm", From: "Kim"}),
					c.AddNote(sequent.Note{Seq: 2, Kind: sequent.Approval}),
				)
			},
			`s active, 4 thoughts, 2 branches
asked (disputed): The cache is cold.
stands at #2: Warm it: it is cheap.
drop-it from #1 (rejected by #2), ends drop-it#2: Drop the cache.
warm-it from #1 (chosen by #2), ends warm-it#2: Warm it at the start.
#1 wrong (Kim): it was warm
warm-it#2 approved (a person)`,
		},
	} {
		e := sequent.New(sequent.Config{})
		s, err := e.Begin(t.Context(), "s", c.record)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := brief.Write(t.Context(), s, 4000); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

func says(drafts ...sequent.Draft) func(c *sequent.Change) error {
	return func(c *sequent.Change) error {
		for _, d := range drafts {
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestBudget briefs random sessions: never more than the budget, never a third of it
// unused while something is left out, and never a text that was replaced.
func TestBudget(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		e := sequent.New(sequent.Config{})
		s, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
			for n := range 1 + rnd.IntN(60) {
				d := sequent.Draft{Number: n + 1, Final: rnd.IntN(20) == 0}
				d.Text = fmt.Sprintf("Thought with the mark %d-%d begins here. ", n, rnd.IntN(1000)) +
					strings.Repeat("It goes on with a sentence of some length. ", rnd.IntN(12))
				if rnd.IntN(50) == 0 {
					d.Text = fmt.Sprint(n) + strings.Repeat("é", 2000)
				}
				if rnd.IntN(4) == 0 {
					d.Branch = fmt.Sprint("line-", rnd.IntN(4))
				}
				if rnd.IntN(4) == 0 {
					d.Revision, d.Revises = true, sequent.To(1+rnd.IntN(n+1))
				}
				if _, err := c.Append(d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, budget := range []int{0, 50, 400, 2400, 8000, 1 << 20} {
			text, left, _ := brief.Write(t.Context(), s, budget)
			if len(text) > max(budget, 60) {
				t.Fatalf("budget %d: %d bytes:\n%s", budget, len(text), text)
			}
			if budget >= 2400 && left > 0 && len(text) < budget*2/3 {
				t.Fatalf("budget %d: only %d bytes, and %d thoughts are left out:\n%s", budget, len(text), left, text)
			}
			if budget == 1<<20 && left > 0 {
				t.Fatalf("without a budget %d thoughts are left out:\n%s", left, text)
			}
			unsound(t, s, text)
		}
	}
}

// TestLinear makes the brief of thoughts of many short lines, each of which is a sentence.
// The cost was the square of their number: 15 s.
func TestLinear(t *testing.T) {
	e := sequent.New(sequent.Config{})
	s, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
		for range 5 {
			if _, err := c.Append(sequent.Draft{Text: strings.Repeat("a\n", 31_500)}); err != nil {
				return err
			}
		}
		_, err := c.Append(sequent.Draft{Text: strings.Repeat("a ", 31_500), Final: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if _, _, err := brief.Write(t.Context(), s, 1<<20); err != nil || time.Since(begun) > 3*time.Second {
		t.Errorf("the brief took %v, want well below a second (%v)", time.Since(begun), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if text, _, err := brief.Write(ctx, s, 1<<20); err == nil || text != "" {
		t.Errorf("for a caller that has left: %.40q, %v", text, err)
	}
}

package brief_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
)

// decided returns a session in which the last thought of the line warm-it chooses it and rejects
// drop-it, which has the given text.
func decided(t *testing.T, rejected string) *sequent.Session {
	t.Helper()
	s, err := sequent.New(sequent.Config{}).Begin(t.Context(), "s", func(c *sequent.Change) error {
		return errors.Join(
			says(
				sequent.Draft{Number: 1, Text: "The cache is cold."},
				sequent.Draft{Number: 2, Branch: "drop-it", From: sequent.To(1), Text: rejected},
				sequent.Draft{Number: 2, Branch: "warm-it", From: sequent.To(1), Text: "Warm it at the start. It takes a second."},
			)(c),
			c.Decide("warm-it", sequent.Chosen),
			c.Decide("drop-it", sequent.Rejected),
			says(sequent.Draft{Number: 2, Text: "Done.", Final: true})(c),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The thought that decides is often the end of the line that it chooses. Its text is shown once.
func TestDecisionOnChosenLine(t *testing.T) {
	t.Parallel()
	text, left, err := brief.Write(t.Context(), decided(t, "Drop the cache."), 4000)
	if err != nil || left > 0 {
		t.Errorf("%d thoughts are left out (%v)", left, err)
	}
	if n := strings.Count(text, "Warm it at the start."); n != 1 {
		t.Errorf("the deciding thought is shown %d times:\n%s", n, text)
	}
	if want := "\nwarm-it from #1 (chosen by warm-it#2), ends warm-it#2\n"; !strings.Contains(text, want) {
		t.Errorf("the brief lacks %q:\n%s", want, text)
	}
}

// A rejected line has the reason against it, then what it was, and only then what speaks for it.
func TestReasonAgainst(t *testing.T) {
	t.Parallel()
	const (
		way    = "Drop the cache and read each row of it from the disk."
		praise = "It is simple, and the code gets shorter by half of its lines."
	)
	for end, reason := range map[string]string{
		"But each page would then read 300 rows. So the site is slow.": "But each page would then read 300 rows.",
		"Against: each page would then read 300 rows.":                 "Against: each page would then read 300 rows.",
		"Each page would then read 300 rows at once.":                  "Each page would then read 300 rows at once.",
		"Each page would then read 300 rows. Too slow.":                "Each page would then read 300 rows. Too slow.",
	} {
		s := decided(t, way+" "+praise+" "+end)
		alone := false
		for budget := range 600 {
			text, _, err := brief.Write(t.Context(), s, budget)
			first, second, third := strings.Contains(text, reason), strings.Contains(text, way), strings.Contains(text, praise)
			if err != nil || second && !first || third && !second {
				t.Errorf("%d bytes (%v):\n%s", budget, err, text)
			}
			alone = alone || first && !second
		}
		if !alone {
			t.Errorf("%q is never shown without what the line was", reason)
		}
	}
}

// A question is not shown without what follows it.
func TestQuestionWithAnswer(t *testing.T) {
	t.Parallel()
	const question = "Can a second reader of the same file share the lock of the first one?"
	s, err := sequent.New(sequent.Config{}).Append(t.Context(), "s",
		sequent.Draft{Number: 1, Text: question + " No: the lock belongs to the process. The test shows it."},
		sequent.Draft{Number: 2, Text: "Done.", Final: true})
	if err != nil {
		t.Fatal(err)
	}
	for budget := range 300 {
		text, _, err := brief.Write(t.Context(), s, budget)
		if err != nil || strings.Contains(text, question) && !strings.Contains(text, question+" No: the lock belongs to the process.") {
			t.Fatalf("%d bytes (%v):\n%s", budget, err, text)
		}
	}
}

package brief_test

import (
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
		for _, d := range []sequent.Draft{
			{Number: 1, Text: "The cache is cold."},
			{Number: 2, Branch: "drop-it", From: sequent.To(1), Text: rejected},
			{Number: 2, Branch: "warm-it", From: sequent.To(1), Text: "Warm it at the start. It takes a second."},
		} {
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		if err := c.Decide("warm-it", sequent.Chosen); err != nil {
			return err
		}
		if err := c.Decide("drop-it", sequent.Rejected); err != nil {
			return err
		}
		_, err := c.Append(sequent.Draft{Number: 2, Text: "Done.", Final: true})
		return err
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

package sequent_test

import (
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A session has a limit in bytes, because its readers hold it in memory. Beyond it, thoughts
// and notes are refused, and the session can be closed.
func TestSessionBytes(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{Limits: sequent.Limits{Bytes: 1000}})
	add := func(text string) error {
		_, err := e.Ensure(t.Context(), "s", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Text: text})
			return err
		})
		return err
	}
	if err := add(strings.Repeat("x", 500)); err != nil {
		t.Fatal(err)
	}
	err := add(strings.Repeat("x", 500))
	if sequent.CodeOf(err) != sequent.CodeLimitExceeded || !strings.Contains(err.Error(), "the limit is 1000") {
		t.Errorf("a thought beyond the limit got %v", err)
	}
	s, err := e.Update(t.Context(), "s", func(c *sequent.Change) error {
		c.Conclude(strings.Repeat("y", 1000))
		c.SetState(sequent.Completed)
		return nil
	})
	if err != nil || s.Len() != 1 || s.State() != sequent.Completed {
		t.Fatalf("closing a full session: %v, %v", s, err)
	}
	var log []sequent.Thought
	for th := range s.All() {
		log = append(log, th)
	}
	small := sequent.New(sequent.Config{Limits: sequent.Limits{Bytes: 100}})
	if _, err := small.Restore(t.Context(), s.Header(), sequent.Entries(log)); sequent.CodeOf(err) != sequent.CodeLimitExceeded {
		t.Errorf("restoring a session beyond the limit got %v", err)
	}
}

package record

import (
	"fmt"

	"github.com/sequent-dev/sequent"
)

// CheckSize returns a *sequent.Error for a write with a thought of more than
// maxBytes. A store refuses such a write alone, because it would otherwise fail its
// whole batch.
func CheckSize(w *sequent.Write, maxBytes int) error {
	for i := range w.Entries {
		t := &w.Entries[i].Thought
		if n := len(t.Text) + len(t.Note); n > maxBytes {
			return &sequent.Error{
				Code: sequent.CodeLimitExceeded, Field: "text",
				Msg: fmt.Sprintf("the thought has %d bytes; the store accepts at most %d", n, maxBytes),
				Fix: "split it into several thoughts",
			}
		}
	}
	return nil
}

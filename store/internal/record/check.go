package record

import (
	"fmt"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// Check returns a *sequent.Error for a write that the store must refuse alone,
// because it would otherwise fail its whole batch: one whose header and thoughts
// are inconsistent, with labels that JSON would change, or with a thought of more
// than maxBytes.
func Check(w *sequent.Write, maxBytes int) error {
	h, base := &w.Header, w.Base
	if base.Version == 0 {
		base.Len = 0
	}
	switch {
	case base.Version != 0 && base.Epoch != h.Epoch:
		return inconsistent("epoch changes from %d to %d", base.Epoch, h.Epoch)
	case h.Len != base.Len+len(w.Thoughts):
		return inconsistent("length changes from %d to %d with %d thoughts", base.Len, h.Len, len(w.Thoughts))
	}
	if err := checkLabels(h.Labels); err != nil {
		return err
	}
	for i := range w.Thoughts {
		t := &w.Thoughts[i]
		if t.Seq != base.Len+i+1 {
			return inconsistent("thought %d has the sequence number %d", base.Len+i+1, t.Seq)
		}
		if n := len(t.Text) + len(t.Note); n > maxBytes {
			return &sequent.Error{
				Code: sequent.CodeLimitExceeded, Field: "text",
				Msg: fmt.Sprintf("the thought has %d bytes; the store accepts at most %d", n, maxBytes),
				Fix: "split it into several thoughts",
			}
		}
		if err := checkLabels(t.Labels); err != nil {
			return err
		}
	}
	return nil
}

func inconsistent(format string, args ...any) error {
	return &sequent.Error{
		Code: sequent.CodeInternal, Msg: "the write to the store is inconsistent",
		Err: fmt.Errorf(format, args...),
	}
}

// checkLabels refuses invalid UTF-8, which encoding/json would replace.
func checkLabels(labels map[string]string) error {
	for k, v := range labels {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return &sequent.Error{
				Code: sequent.CodeInvalidSession, Field: "labels",
				Msg: fmt.Sprintf("the label %q is not valid UTF-8", k), Fix: "use UTF-8",
			}
		}
	}
	return nil
}

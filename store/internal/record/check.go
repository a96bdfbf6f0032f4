package record

import (
	"fmt"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// Check refuses a write that contradicts itself, or that would fail half-way and
// take its batch with it: one with labels that would not be the same afterwards,
// or with a thought of more than most bytes. Its errors are *sequent.Error.
func Check(w *sequent.Write, most int) error {
	h, base := &w.Header, w.Base
	if base.Version == 0 {
		base.Len = 0
	}
	switch {
	case base.Version != 0 && base.Epoch != h.Epoch:
		return fault("it changes the epoch from %d to %d", base.Epoch, h.Epoch)
	case h.Len != base.Len+len(w.Thoughts):
		return fault("%d thoughts lead from %d to %d", len(w.Thoughts), base.Len, h.Len)
	}
	if err := checkLabels(h.Labels); err != nil {
		return err
	}
	for i := range w.Thoughts {
		t := &w.Thoughts[i]
		if t.Seq != base.Len+i+1 {
			return fault("thought %d has the sequence number %d", base.Len+i+1, t.Seq)
		}
		if n := len(t.Text) + len(t.Note); n > most {
			return &sequent.Error{
				Code: sequent.CodeLimitExceeded, Field: "text",
				Msg: fmt.Sprintf("a thought has %d bytes, the store takes %d", n, most),
				Fix: "split it into several thoughts",
			}
		}
		if err := checkLabels(t.Labels); err != nil {
			return err
		}
	}
	return nil
}

func fault(format string, args ...any) error {
	return &sequent.Error{
		Code: sequent.CodeInternal, Msg: "a write to the store contradicts itself",
		Err: fmt.Errorf(format, args...),
	}
}

// checkLabels refuses what JSON would change.
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

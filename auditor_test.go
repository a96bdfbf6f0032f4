package sequent_test

import (
	"context"
	"testing"

	"github.com/sequent-dev/sequent"
)

// An auditor checks that every write is what [sequent.Write] says, before and after
// Rebase. Stores rely on it.
type auditor struct {
	sequent.Store
	t *testing.T
}

func (a *auditor) Commit(ctx context.Context, batch []*sequent.Write) error {
	keys := make(map[sequent.Key]bool)
	for _, w := range batch {
		if keys[w.Header.Key] {
			a.t.Errorf("two writes for %v in one batch", w.Header.Key)
		}
		keys[w.Header.Key] = true
		a.check(w)
		rebase := w.Rebase
		w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
			ok := rebase(now, tail)
			if ok {
				a.check(w)
				if now.Version > 0 && w.Base != now.Position() || now.Version == 0 && w.Base.Version != 0 {
					a.t.Errorf("after Rebase the base is %+v, want %+v", w.Base, now.Position())
				}
			}
			return ok
		}
	}
	return a.Store.Commit(ctx, batch)
}

func (a *auditor) check(w *sequent.Write) {
	h, base := &w.Header, w.Base
	if base.Version == 0 {
		base = sequent.Position{Epoch: h.Epoch}
	}
	thoughts := sequent.Thoughts(w.Entries)
	had := h.Len - len(thoughts)
	if h.Epoch == 0 || h.Epoch != base.Epoch || h.Version <= base.Version || had < 0 || h.Seal != h.Digest() {
		a.t.Errorf("a write leads from %+v to %+v with %d thoughts", w.Base, h.Position(), len(thoughts))
	}
	for i, th := range thoughts {
		if th.Seq != had+i+1 || th.After >= th.Seq || th.Supersedes >= th.Seq {
			a.t.Errorf("thought %d of a write is %+v", had+i+1, th)
		}
	}
	if len(w.Entries) == 0 && h.Head != base.Head || len(w.Entries) > 0 && !h.Continues(base, w.Entries) ||
		h.Entries != base.Entries+len(w.Entries) {
		a.t.Errorf("a write leads from %+v to %+v, and its %d entries do not", w.Base, h.Position(), len(w.Entries))
	}
}

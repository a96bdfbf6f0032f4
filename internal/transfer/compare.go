package transfer

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/sequent-dev/sequent"
)

// lacking reports whether the target's session (now, have) lacks something of the
// source's (h, log). It returns an error if the two have diverged. A session that
// was only continued in the target lacks nothing.
func lacking(now sequent.Header, have []sequent.Entry, h sequent.Header, log []sequent.Entry) (bool, error) {
	diverged := func(format string, args ...any) error {
		return &sequent.Error{
			Code: sequent.CodeSessionExists, Field: "sessionId",
			Msg: fmt.Sprintf("the target store has a different session %q: ", h.ID) + fmt.Sprintf(format, args...),
			Fix: "delete one of them and copy again, or keep both",
		}
	}
	if seq := difference(have, log); seq > 0 {
		return false, diverged("the logs differ from thought %d on", seq)
	}
	switch {
	case h.Len > now.Len && now.Updated.After(h.Updated):
		return false, diverged("it has fewer thoughts but was changed after the last one here")
	case h.Len > now.Len:
		return true, nil
	case h.Len < now.Len && h.Updated.After(now.Updated):
		return false, diverged("it has more thoughts but was changed before the last change here")
	case h.Len < now.Len:
		return false, nil
	}
	return h.Updated.After(now.Updated) && !sameHeader(now, h, false), nil
}

// difference returns the Seq of the first thought in which two logs differ, as far as
// both go, and 0 if they do not. Entries with the same proof are the same, also if a text
// is masked in one of them.
func difference(have, log []sequent.Entry) int {
	thought := func(e sequent.Entry) bool { return e.Kind == sequent.KindThought }
	for {
		i, j := slices.IndexFunc(have, thought), slices.IndexFunc(log, thought)
		if i < 0 || j < 0 {
			return 0
		}
		a, b := &have[i], &log[j]
		if !(a.Proven() && a.Hash == b.Hash) && !sameThought(a.Thought, b.Thought) {
			return a.Thought.Seq
		}
		have, log = have[i+1:], log[j+1:]
	}
}

func sameThought(a, b sequent.Thought) bool {
	if !maps.Equal(a.Labels, b.Labels) {
		return false
	}
	a.Labels, b.Labels = nil, nil
	return reflect.DeepEqual(a, b)
}

// sameHeader compares two headers, and their epoch and version only if exactly is
// set.
func sameHeader(a, b sequent.Header, exactly bool) bool {
	if !maps.Equal(a.Labels, b.Labels) {
		return false
	}
	a.Labels, b.Labels = nil, nil
	if !exactly {
		a.Epoch, a.Version = b.Epoch, b.Version
	}
	return reflect.DeepEqual(a, b)
}

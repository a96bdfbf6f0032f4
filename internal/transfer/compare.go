package transfer

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/sequent-dev/sequent"
)

// lacking reports whether the target's session (now, have) lacks something of the
// source's (h, log). It returns an error if the two have diverged. A session that
// was only continued in the target lacks nothing.
func lacking(now sequent.Header, have []sequent.Thought, h sequent.Header, log []sequent.Thought) (bool, error) {
	diverged := func(format string, args ...any) error {
		return &sequent.Error{
			Code: sequent.CodeSessionExists, Field: "sessionId",
			Msg: fmt.Sprintf("the target store has a different session %q: ", h.ID) + fmt.Sprintf(format, args...),
			Fix: "delete one of them and copy again, or keep both",
		}
	}
	for i := range min(len(have), len(log)) {
		if !sameThought(have[i], log[i]) {
			return false, diverged("the logs differ from thought %d on", i+1)
		}
	}
	switch {
	case len(log) > len(have) && now.Updated.After(h.Updated):
		return false, diverged("it has fewer thoughts but was changed after the last one here")
	case len(log) > len(have):
		return true, nil
	case len(log) < len(have) && h.Updated.After(now.Updated):
		return false, diverged("it has more thoughts but was changed before the last change here")
	case len(log) < len(have):
		return false, nil
	}
	return h.Updated.After(now.Updated) && !sameHeader(now, h, false), nil
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

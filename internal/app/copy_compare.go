package app

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/sequent-dev/sequent"
)

// lacking reports whether a session that the other store has lacks something of
// the one that is copied. It is an error if they have parted; one that has only
// gone on in the other store lacks nothing.
func lacking(now sequent.Header, have []sequent.Thought, h sequent.Header, log []sequent.Thought) (bool, error) {
	parted := func(format string, args ...any) error {
		return &sequent.Error{
			Code: sequent.CodeSessionExists, Field: "sessionId",
			Msg: fmt.Sprintf("there is another session %q in the store that it is copied to: ", h.ID) + fmt.Sprintf(format, args...),
			Fix: "delete one of them and copy again, or keep both where they are",
		}
	}
	for i := range min(len(have), len(log)) {
		if !sameThought(have[i], log[i]) {
			return false, parted("they differ from thought %d of the log on", i+1)
		}
	}
	switch {
	case len(log) > len(have) && now.Updated.After(h.Updated):
		return false, parted("it was changed there after the last thought here, and has fewer thoughts")
	case len(log) > len(have):
		return true, nil
	case len(log) < len(have) && h.Updated.After(now.Updated):
		return false, parted("it has more thoughts there, and was changed here after that")
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

// sameHeader compares all that a header says, and if exactly is true how the
// store counts it.
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

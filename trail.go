package sequent

import (
	"context"
	"slices"
	"sync"
)

// MaxTrail is how many sessions a [Trail] names.
const MaxTrail = 16

// A Trail records which sessions the calls with its context name, for a log of who has used
// which session. Calls that are refused count, too, unless the id is one that no session can
// have. Sessions that a list or a search finds do not count. The zero Trail is ready for use,
// and safe for concurrent use.
type Trail struct {
	mu   sync.Mutex
	uses []Use
	more int
}

// A Use is a session on a [Trail].
type Use struct {
	Key     Key
	Changes bool // a call wanted to change it
}

type trailKey struct{}

// WithTrail returns a context whose calls leave the trail t.
func WithTrail(ctx context.Context, t *Trail) context.Context {
	return context.WithValue(ctx, trailKey{}, t)
}

// Uses returns the sessions in the order in which they were used first, at most [MaxTrail],
// and how many uses of further sessions there were.
func (t *Trail) Uses() (uses []Use, more int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.uses), t.more
}

// leaveTrail records the use of a session by a call.
func leaveTrail(ctx context.Context, k Key, changes bool) {
	t, _ := ctx.Value(trailKey{}).(*Trail)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.uses {
		if t.uses[i].Key == k {
			t.uses[i].Changes = t.uses[i].Changes || changes
			return
		}
	}
	if len(t.uses) == MaxTrail {
		t.more++
		return
	}
	t.uses = append(t.uses, Use{Key: k, Changes: changes})
}

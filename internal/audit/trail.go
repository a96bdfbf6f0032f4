package audit

import (
	"context"
	"sync"

	"github.com/sequent-dev/sequent"
)

// maxTrail is how many sessions an entry names.
const maxTrail = 16

// A Trail records which sessions a request names. Calls that are refused count, too, unless the
// id is one that no session can have. Sessions that a list or a search finds do not count. The
// zero Trail is ready for use, and safe for concurrent use.
type Trail struct {
	mu       sync.Mutex
	sessions []Session
	more     int
}

type trailKey struct{}

// WithTrail returns a context whose calls leave the trail t.
func WithTrail(ctx context.Context, t *Trail) context.Context {
	return context.WithValue(ctx, trailKey{}, t)
}

// Used adds a session to the trail of ctx, if it has one; see [sequent.Config].
func Used(ctx context.Context, k sequent.Key, changes bool) {
	t, _ := ctx.Value(trailKey{}).(*Trail)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.sessions {
		if s := &t.sessions[i]; s.ID == string(k.ID) && s.Owner == k.Owner {
			s.Changes = s.Changes || changes
			return
		}
	}
	if len(t.sessions) == maxTrail {
		t.more++
		return
	}
	t.sessions = append(t.sessions, Session{ID: string(k.ID), Owner: k.Owner, Changes: changes})
}

// Follow adds the sessions of a trail to e, in the order of their first use.
func (e *Entry) Follow(t *Trail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Sessions, e.More = append(e.Sessions, t.sessions...), t.more
}

package status

import (
	"context"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
)

// lines has the calls of one session take turns, in the order in which they were
// made: a thought must not be overtaken while a model writes it, and the next is
// to build on it. The engine's own order is that of commits.
type lines struct {
	mu      sync.Mutex
	waiting map[lineKey][]chan struct{} // the first of each has its turn
}

// A lineKey is a session by its id, or the default one of a scope.
type lineKey struct {
	owner string
	id    sequent.ID
	scope string // where id is empty
}

// enter waits for the turn, which ends with leave.
func (l *lines) enter(ctx context.Context, key lineKey) (leave func(), err error) {
	turn := make(chan struct{})
	l.mu.Lock()
	l.waiting[key] = append(l.waiting[key], turn)
	first := len(l.waiting[key]) == 1
	l.mu.Unlock()
	leave = func() { l.leave(key, turn) }
	if first {
		return leave, nil
	}
	select {
	case <-turn:
		return leave, nil
	case <-ctx.Done():
		leave()
		return nil, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: ctx.Err()}
	}
}

// leave takes a turn out of its line, wherever it stands, and lets the first of
// the line go on.
func (l *lines) leave(key lineKey, turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.waiting[key]
	at := slices.Index(line, turn)
	line = slices.Delete(line, at, at+1)
	if len(line) == 0 {
		delete(l.waiting, key)
		return
	}
	l.waiting[key] = line
	if at == 0 {
		close(line[0])
	}
}

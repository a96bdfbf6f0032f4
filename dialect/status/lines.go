package status

import (
	"context"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// lines runs the calls of a session one after the other, in the order of arrival: a
// thought must not be overtaken while a model writes it, because the next one builds on
// it. The engine orders only commits.
type lines struct {
	mu      sync.Mutex
	waiting map[lineKey][]chan struct{} // the first call of each line runs
}

// A lineKey is a session: its id, or the scope of a call without one.
type lineKey struct {
	owner string
	id    sequent.ID
	scope tool.Scope // if id is empty
}

// enter waits until the call is the first of its line. The caller calls leave when the
// call ends.
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

// leave removes a call from its line. If it was the first, the next call runs.
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

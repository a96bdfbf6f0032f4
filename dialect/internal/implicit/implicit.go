// Package implicit tells which session a call means that names none: the one
// last begun in the caller's scope.
package implicit

import (
	"context"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// CodeNoScope is the code of [ErrNoScope].
const CodeNoScope sequent.Code = "scope_required"

// ErrNoScope is the error for a caller without a scope.
var ErrNoScope = &sequent.Error{
	Code: CodeNoScope,
	Msg:  "the call names no session and has no scope",
	Fix:  "pass the session's id if the tool takes one, or add ?scope=NAME to the endpoint's URL, or authenticate, or use stdio",
}

// A Finder finds the current session of a scope. It is safe for concurrent
// use.
type Finder struct {
	engine  *sequent.Engine
	dialect string

	mu     sync.Mutex               // guards what follows
	scopes map[sequent.Key]*current // by owner and scope
}

// A current is what is known of one scope.
type current struct {
	turn sync.Mutex // held by the call whose turn it is

	// Guarded by Finder.mu:
	id    sequent.ID // the session last begun; empty if not known
	calls int        // under way or waiting
}

// New returns a finder for the sessions that a dialect begins in engine.
func New(engine *sequent.Engine, dialect string) *Finder {
	return &Finder{engine: engine, dialect: dialect, scopes: make(map[sequent.Key]*current)}
}

// A Turn is a scope's, held by one call at a time so that two calls cannot
// both begin its first session.
type Turn struct {
	finder *Finder
	caller tool.Caller
	known  *current
}

// Enter waits for the caller's scope to be free. The caller must call Leave.
// The error is ErrNoScope if there is no scope.
func (f *Finder) Enter(c tool.Caller) (*Turn, error) {
	if c.Scope.Name == "" {
		return nil, ErrNoScope
	}
	f.mu.Lock()
	k := key(c)
	known := f.scopes[k]
	if known == nil {
		known = new(current)
		f.scopes[k] = known
	}
	known.calls++
	f.mu.Unlock()
	known.turn.Lock()
	return &Turn{finder: f, caller: c, known: known}, nil
}

// Leave frees the scope. What is known of one that others share is forgotten:
// callers choose scope names, and may choose many.
func (t *Turn) Leave() {
	t.known.turn.Unlock()
	f := t.finder
	f.mu.Lock()
	defer f.mu.Unlock()
	t.known.calls--
	if t.known.calls == 0 && !t.caller.Scope.Exclusive {
		delete(f.scopes, key(t.caller))
	}
}

func key(c tool.Caller) sequent.Key {
	return sequent.Key{Owner: c.Owner, ID: sequent.ID(c.Scope.Name)}
}

// Current returns the id of the session last begun in the scope, or an empty
// one if there is none.
func (t *Turn) Current(ctx context.Context) (sequent.ID, error) {
	if t.caller.Scope.Exclusive {
		t.finder.mu.Lock()
		defer t.finder.mu.Unlock()
		return t.known.id, nil
	}
	page, err := t.finder.engine.Owned(t.caller.Owner).Sessions(ctx, sequent.Query{
		Scope: t.name(), ByCreated: true, Limit: 1,
	})
	if err != nil || len(page.Headers) == 0 {
		return "", err
	}
	return page.Headers[0].ID, nil
}

// Begin marks s, in the change function that begins it, as the scope's.
func (t *Turn) Begin(c *sequent.Change) { c.BeginIn(t.name(), t.finder.dialect) }

// Began says that the session with that id is now the scope's current one.
func (t *Turn) Began(id sequent.ID) {
	t.finder.mu.Lock()
	defer t.finder.mu.Unlock()
	t.known.id = id
}

// name is the scope as sessions have it: two dialects never share one.
func (t *Turn) name() string { return t.finder.dialect + "/" + t.caller.Scope.Name }

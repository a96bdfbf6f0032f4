// Package scope finds the session of a call that names none: the session that was
// begun last in the caller's scope. See [tool.Scope].
//
//	turn, err := finder.Enter(c.Caller)     // one call at a time in a scope
//	defer turn.Leave()
//	id, err := turn.Current(ctx)            // continue this session if it is not empty,
//	s, err := engine.Begin(ctx, newID, func(c *sequent.Change) error {
//		turn.Begin(c)                       // or begin the scope's next session
//		…
//	})
//	turn.Began(newID)
package scope

import (
	"context"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// CodeRequired is the code of [ErrRequired].
const CodeRequired sequent.Code = "scope_required"

// ErrRequired is the error for a caller without a scope, such as an anonymous client
// over stateless HTTP. Package wording has words for it.
var ErrRequired = &sequent.Error{
	Code: CodeRequired,
	Msg:  "the call names no session and has no scope",
	Fix:  "pass the session's id if the tool takes one, or add ?scope=NAME to the endpoint's URL, or authenticate, or use stdio",
}

// A Finder finds the current session of a scope. It is safe for concurrent use.
type Finder struct {
	engine  *sequent.Engine
	dialect string

	mu     sync.Mutex               // guards scopes and the fields of current below turn
	scopes map[sequent.Key]*current // by owner and scope
}

// A current is the state of one scope.
type current struct {
	turn sync.Mutex // held by one call at a time

	id    sequent.ID // the session begun last; empty if not known
	calls int        // in progress or waiting
}

// New returns a finder for the sessions that a dialect begins in engine. The name of
// the dialect keeps its sessions apart: the same scope has another current session in
// each dialect.
func New(engine *sequent.Engine, dialect string) *Finder {
	return &Finder{engine: engine, dialect: dialect, scopes: make(map[sequent.Key]*current)}
}

// A Turn is the use of a scope by one call. Other calls in the scope wait until it
// ends, so that two calls cannot both begin the scope's next session. Its methods are
// for one goroutine.
type Turn struct {
	finder *Finder
	caller tool.Caller
	known  *current
}

// Enter waits until no other call uses the caller's scope. The caller must call
// [Turn.Leave]. The error is [ErrRequired] if there is no scope.
func (f *Finder) Enter(c tool.Caller) (*Turn, error) {
	if c.Scope.Name == "" {
		return nil, ErrRequired
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

// Leave ends the turn. The state of a scope that processes share is dropped with its
// last call, because clients choose the names of scopes and may choose many.
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

// Current returns the id of the session begun last in the scope, or "" if there is
// none. The session may have been completed or deleted since. If the scope is not
// exclusive, it asks the store; errors are those of [sequent.Engine.Sessions].
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

// Begin records, in the change function that begins a session, that the session
// belongs to the scope. Another process then finds it.
func (t *Turn) Begin(c *sequent.Change) { c.BeginIn(t.name(), t.finder.dialect) }

// Began makes the session the scope's current one. Call it after the session was
// begun without an error.
func (t *Turn) Began(id sequent.ID) {
	t.finder.mu.Lock()
	defer t.finder.mu.Unlock()
	t.known.id = id
}

// name is the value of [sequent.Header.Scope], which two dialects never share.
func (t *Turn) name() string { return t.finder.dialect + "/" + t.caller.Scope.Name }

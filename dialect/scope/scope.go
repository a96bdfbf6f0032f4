// Package scope finds the session of a call that names none: the session that was
// begun last in the caller's scope. See [tool.Scope].
//
//	turn, err := finder.Enter(c.Caller) // one call at a time in a scope
//	defer turn.Leave()
//	s, err := turn.Record(ctx, newID, func(c *sequent.Change) error {
//		… // return ErrNext if the call begins the scope's next session
//	})
package scope

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

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

// ErrNext is what a change function returns to [Turn.Record] if the call does not belong
// to the scope's current session but begins the next one.
var ErrNext = errors.New("the call begins the scope's next session")

// A Finder finds the current session of a scope. It is safe for concurrent use.
type Finder struct {
	engine  *sequent.Engine
	dialect string

	mu     sync.Mutex // guards scopes and the fields of current below turn
	scopes map[place]*current
}

// A place is a scope of an owner.
type place struct{ owner, project, scope string }

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
	return &Finder{engine: engine, dialect: dialect, scopes: make(map[place]*current)}
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

func key(c tool.Caller) place { return place{c.Owner, c.Scope.Project, c.Scope.Name} }

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

// Record makes a change to the scope's current session. If there is none, if it was
// deleted or has expired, or if change returns [ErrNext], Record begins the scope's next
// session with it, with an id of newID; see [Begin]. Other processes find that session
// unless the scope is exclusive. Errors are those of change, newID, [Turn.Current],
// [sequent.Engine.Update] and Begin.
//
// A session that ErrNext leaves open is marked as abandoned, after the next one was
// begun: a call that is refused changes nothing. If the mark fails, or the process is
// killed before it, the session stays active. No rule depends on the mark.
func (t *Turn) Record(ctx context.Context, newID func() (sequent.ID, error), change func(*sequent.Change) error) (*sequent.Session, error) {
	engine := t.finder.engine.Owned(t.caller.Owner)
	id, err := t.Current(ctx)
	if err != nil {
		return nil, err
	}
	var left sequent.Position
	if id != "" {
		s, err := engine.Update(ctx, id, func(c *sequent.Change) error {
			err := change(c)
			if errors.Is(err, ErrNext) {
				left = c.Session().Position()
			}
			return err
		})
		if !errors.Is(err, ErrNext) && !errors.Is(err, sequent.ErrNotFound) {
			return s, err
		}
	}
	s, err := Begin(ctx, engine, newID, func(c *sequent.Change) error {
		c.BeginIn(t.name(), t.finder.dialect)
		return change(c)
	})
	if err != nil {
		return s, err
	}
	t.finder.mu.Lock()
	t.known.id = s.ID()
	t.finder.mu.Unlock()
	if left.Len > 0 {
		abandon(context.WithoutCancel(ctx), engine, id, left, s.Created())
	}
	return s, nil
}

// abandon marks the session that was left at a position when the scope's next one began,
// unless it had ended or was continued or deleted since: another process may use it.
func abandon(ctx context.Context, e *sequent.Engine, id sequent.ID, left sequent.Position, next time.Time) {
	// The call is recorded, so a failure of the mark must not refuse it.
	_, _ = e.Update(ctx, id, func(c *sequent.Change) error {
		s := c.Session()
		if s.State() == sequent.Active && s.Epoch() == left.Epoch && s.Len() == left.Len {
			c.Abandon(next.Add(-time.Microsecond)) // listed after the next one
		}
		return nil
	})
}

// Begin begins a session with an id of newID, and tries another id if a session has that
// one. Errors are those of newID and of [sequent.Engine.Begin]; the code is
// [sequent.CodeConflict] if 1,000 ids were taken.
func Begin(ctx context.Context, e *sequent.Engine, newID func() (sequent.ID, error), change func(*sequent.Change) error) (*sequent.Session, error) {
	const maxAttempts = 1000
	for range maxAttempts {
		id, err := newID()
		if err != nil {
			return nil, err
		}
		s, err := e.Begin(ctx, id, change)
		if !errors.Is(err, sequent.ErrExists) {
			return s, err
		}
	}
	return nil, &sequent.Error{
		Code: sequent.CodeConflict, Msg: "too many sessions begin at the same time", Fix: "repeat the call in a second",
	}
}

// Adopt makes a session the current one of an exclusive scope that has none.
func (t *Turn) Adopt(id sequent.ID) {
	t.finder.mu.Lock()
	defer t.finder.mu.Unlock()
	if t.known.id == "" {
		t.known.id = id
	}
}

// name is the value of [sequent.Header.Scope].
func (t *Turn) name() string { return t.finder.name(t.caller.Scope) }

// name returns the value of [sequent.Header.Scope] for a scope of this dialect. Two
// dialects never share one, nor do two projects.
func (f *Finder) name(s tool.Scope) string {
	switch {
	case s.Project == "":
		return f.dialect + "/" + s.Name
	case s.Exclusive:
		return f.project(s) + s.Name
	}
	return f.dialect + "/" + s.Name + "~" + digest(s.Project)
}

// project returns the beginning of the names of all exclusive scopes of a project.
func (f *Finder) project(s tool.Scope) string {
	return f.dialect + "/~" + digest(s.Project) + "-" // no URL can name it
}

// digest returns a short digest of the name of a project, which may be long.
func digest(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:8])
}

// repeatable is for how long a first call can be repeated.
const repeatable = 24 * time.Hour

// Repeated returns the id of the session that the same request began less than 24
// hours ago in the caller's scope or, if that is exclusive and has a project, in another
// exclusive scope of the project. It returns "" if there is none. With it a client whose
// first call was answered by a process that has ended, or over a connection that broke,
// can repeat the call. Errors are those of [sequent.Engine.Sessions].
func (f *Finder) Repeated(ctx context.Context, c tool.Caller, r sequent.Request) (sequent.ID, error) {
	if r.Key == "" {
		return "", nil
	}
	engine := f.engine.Owned(c.Owner)
	q := sequent.Query{
		Request: r, Begun: engine.Now().Add(-repeatable), ByCreated: true,
		Project: sequent.ContextOf(ctx).Project,
	}
	for h, err := range engine.AllSessions(ctx, q) {
		if err != nil {
			return "", err
		}
		if h.Dialect == f.dialect && f.same(h.Scope, c.Scope) {
			return h.ID, nil
		}
	}
	return "", nil
}

// same reports whether a session with a scope of its header was begun in s or, for an
// exclusive scope, in its project.
func (f *Finder) same(header string, s tool.Scope) bool {
	switch {
	case s.Name == "":
		return header == ""
	case s.Exclusive && s.Project != "":
		return strings.HasPrefix(header, f.project(s))
	}
	return header == f.name(s)
}

package dialect

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

// CodeScopeRequired is the code of [ErrScopeRequired].
const CodeScopeRequired sequent.Code = "scope_required"

// ErrScopeRequired is the error for a caller without a scope, such as an anonymous client
// over stateless HTTP.
var ErrScopeRequired = sequent.Errorf(CodeScopeRequired, "", "pass the session's id if the tool takes one, or add ?scope=NAME to the endpoint's URL, or authenticate, or use stdio",
	"the call names no session and has no scope")

// errNext ends the change of a session that the call does not belong to.
var errNext = errors.New("the call begins the scope's next session")

// Scopes finds the session of a call that names none: the session that was begun last in
// the caller's scope; see [tool.Scope]. It is safe for concurrent use.
//
//	turn, err := scopes.Enter(ctx, c.Caller) // one call at a time in a scope
//	defer turn.Leave()
//	turn.Begins = … // the call begins the scope's next session
//	s, err := turn.Record(ctx, newID, func(c *sequent.Change) error { … })
type Scopes struct {
	engine  *sequent.Engine
	dialect string

	mu     sync.Mutex // guards places and the fields of current below turn
	places map[place]*current
}

// A place is a scope of an owner, or a session that calls name.
type place struct {
	owner, project, scope string
	session               sequent.ID
}

// A current is the state of one place.
type current struct {
	turn chan struct{} // full while a call has its turn; those that wait to fill it do so in order

	id    sequent.ID // the session begun last; empty if not known
	calls int        // in progress or waiting
}

// NewScopes returns the scopes of the sessions that a dialect begins in engine. The name
// of the dialect keeps its sessions apart: the same scope has another current session in
// each dialect.
func NewScopes(engine *sequent.Engine, dialect string) *Scopes {
	return &Scopes{engine: engine, dialect: dialect, places: make(map[place]*current)}
}

// A Turn is the use of a scope by one call. Other calls in the scope wait until it
// ends, so that two calls cannot both begin the scope's next session. Its methods are
// for one goroutine.
type Turn struct {
	// Request is that of the call, if it can be repeated. If the same request began a
	// session less than 24 hours ago in the scope, Record changes that session instead of
	// beginning another: its reply was lost. An exclusive scope with a project stands for all
	// such scopes of the project, because a client starts its server again in another process.
	Request sequent.Request
	// Begins means that the call begins the scope's next session if the current one has
	// thoughts, none of them of the same Request.
	Begins bool

	scopes *Scopes
	caller tool.Caller
	place  place
	known  *current
	left   *sequent.Session
}

// Enter waits until all earlier calls in the caller's scope have left it. The caller must
// call [Turn.Leave]. The error is [ErrScopeRequired] if there is no scope; its code is
// [sequent.CodeCanceled] if ctx is done before the call has its turn.
func (f *Scopes) Enter(ctx context.Context, c tool.Caller) (*Turn, error) {
	if c.Scope.Name == "" {
		return nil, ErrScopeRequired
	}
	return f.enter(ctx, c, place{owner: c.Owner, project: c.Scope.Project, scope: c.Scope.Name})
}

// EnterSession is Enter for a call that names its session: the turn is the use of that
// session. Record begins it with this id if it does not exist, and not with a new one.
func (f *Scopes) EnterSession(ctx context.Context, c tool.Caller, id sequent.ID) (*Turn, error) {
	return f.enter(ctx, c, place{owner: c.Owner, session: id})
}

func (f *Scopes) enter(ctx context.Context, c tool.Caller, p place) (*Turn, error) {
	f.mu.Lock()
	known := f.places[p]
	if known == nil {
		known = &current{turn: make(chan struct{}, 1)}
		f.places[p] = known
	}
	known.calls++
	f.mu.Unlock()
	t := &Turn{scopes: f, caller: c, place: p, known: known}
	select {
	case known.turn <- struct{}{}: // also if ctx is done
		return t, nil
	default:
	}
	select {
	case known.turn <- struct{}{}:
		return t, nil
	case <-ctx.Done():
		t.drop()
		return nil, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: ctx.Err()}
	}
}

// Alone returns a turn for a caller without a scope. It has no current session, and
// Record begins one that only its ID names.
func (f *Scopes) Alone(c tool.Caller) *Turn {
	known := &current{turn: make(chan struct{}, 1), calls: 1}
	known.turn <- struct{}{}
	return &Turn{scopes: f, caller: c, known: known}
}

// Leave ends the turn.
func (t *Turn) Leave() {
	<-t.known.turn
	t.drop()
}

// drop ends the call's use of a place. The state of a place is dropped with its last call
// unless it is an exclusive scope, because clients choose names and may choose many.
func (t *Turn) drop() {
	f := t.scopes
	f.mu.Lock()
	defer f.mu.Unlock()
	t.known.calls--
	if t.known.calls == 0 && (t.place.session != "" || !t.caller.Scope.Exclusive) {
		delete(f.places, t.place)
	}
}

// Current returns the id of the session begun last in the scope, or "" if there is
// none. The session may have been completed or deleted since. If the scope is not
// exclusive, it asks the store; errors are those of [sequent.Engine.Sessions].
func (t *Turn) Current(ctx context.Context) (sequent.ID, error) {
	switch scope := t.caller.Scope; {
	case t.place.session != "":
		return t.place.session, nil
	case scope.Name == "":
		return "", nil
	case scope.Exclusive:
		t.scopes.mu.Lock()
		defer t.scopes.mu.Unlock()
		return t.known.id, nil
	}
	page, err := t.engine().Sessions(ctx, sequent.Query{Scope: t.name(), ByCreated: true, Limit: 1})
	if err != nil || len(page.Headers) == 0 {
		return "", err
	}
	return page.Headers[0].ID, nil
}

func (t *Turn) engine() *sequent.Engine { return t.scopes.engine.Owned(t.caller.Owner) }

// Record makes a change to the scope's current session. If there is none, if it was
// deleted or has expired, or if the call Begins the next one, Record begins the scope's next
// session with it, with an id of newID; see [Begin]. Other processes find that session
// unless the scope is exclusive. Errors are those of change, newID, [Turn.Current],
// [sequent.Engine.Update] and Begin.
//
// A session that is left open is marked as abandoned, after the next one was
// begun: a call that is refused changes nothing. If the mark fails, or the process is
// killed before it, the session stays active. No rule depends on the mark.
func (t *Turn) Record(ctx context.Context, newID func() (sequent.ID, error), change func(*sequent.Change) error) (*sequent.Session, error) {
	t.left = nil
	id, err := t.Current(ctx)
	if err != nil {
		return nil, err
	}
	if t.place.session != "" {
		return t.engine().Ensure(ctx, id, func(c *sequent.Change) error {
			if c.Session().Version() == 0 {
				c.BeginIn("", t.scopes.dialect)
			}
			return change(c)
		})
	}
	if id != "" {
		s, err := t.engine().Update(ctx, id, func(c *sequent.Change) error {
			if t.left = nil; t.leaves(c.Session()) {
				t.left = c.Session()
				return errNext
			}
			return change(c)
		})
		switch {
		case errors.Is(err, errNext), errors.Is(err, sequent.ErrNotFound):
		case sequent.CodeOf(err) == sequent.CodeCorrupt && t.Begins: // it refuses all changes
		default:
			return s, err
		}
	}
	if id, err = t.repeated(ctx); err != nil {
		return nil, err
	}
	if id != "" {
		s, err := t.engine().Update(ctx, id, change)
		if err == nil {
			t.remember(id, false)
		}
		return s, err
	}
	s, err := Begin(ctx, t.engine(), newID, func(c *sequent.Change) error {
		c.BeginIn(t.name(), t.scopes.dialect)
		return change(c)
	})
	if err != nil {
		return s, err
	}
	t.remember(s.ID(), true)
	if t.left != nil {
		t.abandon(context.WithoutCancel(ctx), t.left, s.Created())
	}
	return s, nil
}

// remember makes a session the current one, if there is none or it was begun now.
func (t *Turn) remember(id sequent.ID, begun bool) {
	t.scopes.mu.Lock()
	defer t.scopes.mu.Unlock()
	if begun || t.known.id == "" {
		t.known.id = id
	}
}

// leaves reports whether the call leaves the current session for the next one.
func (t *Turn) leaves(s *sequent.Session) bool {
	recorded, ok := s.Recorded(t.Request.Key)
	return t.Begins && s.Len() > 0 && (!ok || recorded.Request != t.Request)
}

// Left returns the session that the next one of the scope follows, or nil. It is for the newID of
// [Turn.Record].
func (t *Turn) Left() *sequent.Session { return t.left }

// abandon marks the session that was left when the scope's next one began,
// unless it had ended or was continued or deleted since: another process may use it.
func (t *Turn) abandon(ctx context.Context, left *sequent.Session, next time.Time) {
	// The call is recorded, so a failure of the mark must not refuse it.
	_, _ = t.engine().Update(ctx, left.ID(), func(c *sequent.Change) error {
		s := c.Session()
		if s.State() == sequent.Active && s.Epoch() == left.Epoch() && s.Len() == left.Len() {
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
	return nil, sequent.Errorf(sequent.CodeConflict, "", "repeat the call in a second",
		"too many sessions begin at the same time")
}

// name returns the value of [sequent.Header.Scope] for the scope. Two dialects never share
// one, nor do two projects.
func (t *Turn) name() string {
	switch s := t.caller.Scope; {
	case s.Name == "":
		return ""
	case s.Project == "":
		return t.scopes.dialect + "/" + s.Name
	case s.Exclusive:
		return t.project() + s.Name
	default:
		return t.scopes.dialect + "/" + s.Name + "~" + digest(s.Project)
	}
}

// project returns the beginning of the names of all exclusive scopes of a project.
func (t *Turn) project() string {
	return t.scopes.dialect + "/~" + digest(t.caller.Scope.Project) + "-" // no URL can name it
}

// digest returns a short digest of the name of a project, which may be long.
func digest(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:8])
}

// repeated returns the id of the session that the call's request began, or "".
func (t *Turn) repeated(ctx context.Context) (sequent.ID, error) {
	if t.Request.Key == "" {
		return "", nil
	}
	const repeatable = 24 * time.Hour
	s := t.caller.Scope
	q := sequent.Query{
		Request: t.Request, Begun: t.scopes.engine.Now().Add(-repeatable), ByCreated: true, Project: s.Project,
	}
	for h, err := range t.engine().AllSessions(ctx, q) {
		if err != nil {
			return "", err
		}
		same := h.Scope == t.name()
		if s.Exclusive && s.Project != "" {
			same = strings.HasPrefix(h.Scope, t.project())
		}
		if same && h.Dialect == t.scopes.dialect {
			return h.ID, nil
		}
	}
	return "", nil
}

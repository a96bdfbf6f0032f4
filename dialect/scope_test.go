package dialect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// call does what a dialect does: continue the scope's session, or begin one.
func call(t *testing.T, f *Scopes, c tool.Caller, fresh string) sequent.ID {
	t.Helper()
	turn, err := f.Enter(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer turn.Leave()
	turn.Begins = fresh != ""
	s, err := turn.Record(t.Context(), func() (sequent.ID, error) {
		return sequent.ID(cmp.Or(fresh, "first-"+c.Scope.Name)), nil
	}, func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "a thought"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := turn.Current(t.Context()); id != s.ID() || err != nil {
		t.Errorf("after Record the current session is %q, %v, want %q", id, err, s.ID())
	}
	return s.ID()
}

func TestScopes(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		t.Run(fmt.Sprint("exclusive=", exclusive), func(t *testing.T) {
			e := sequent.New(sequent.Config{})
			f := NewScopes(e, "d")
			in := func(owner, scope string) tool.Caller {
				return tool.Caller{Owner: owner, Scope: tool.Scope{Name: scope, Exclusive: exclusive}}
			}
			if _, err := f.Enter(t.Context(), tool.Caller{}); !errors.Is(err, ErrScopeRequired) {
				t.Errorf("no scope: %v", err)
			}
			if got := call(t, f, in("", "a"), ""); got != "first-a" {
				t.Errorf("the scope's first session is %q", got)
			}
			if got := call(t, f, in("", "b"), ""); got != "first-b" {
				t.Errorf("another scope's first session is %q", got)
			}
			if got := call(t, f, in("alice", "a"), ""); got != "first-a" {
				t.Errorf("the same scope of another owner begins %q", got)
			}
			call(t, f, in("", "a"), "second-a")
			if got := call(t, f, in("", "a"), ""); got != "second-a" {
				t.Errorf("the session begun last is %q", got)
			}
			if got := call(t, f, in("alice", "a"), ""); got != "first-a" {
				t.Errorf("alice's session is %q", got)
			}
			if err := e.Owned("alice").Delete(t.Context(), "first-a"); err != nil {
				t.Fatal(err)
			}
			if got := call(t, f, in("alice", "a"), ""); got != "first-a" {
				t.Errorf("after the session was deleted, the scope begins %q", got)
			}
			if want := map[bool]int{true: 3, false: 0}[exclusive]; len(f.places) != want {
				t.Errorf("%d scopes are remembered, want %d", len(f.places), want)
			}
		})
	}
}

func TestOneCallAtATimeBeginsAScope(t *testing.T) {
	e := sequent.New(sequent.Config{})
	f := NewScopes(e, "d")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { call(t, f, tool.Caller{Scope: tool.Scope{Name: "a"}}, "") })
	}
	wg.Wait()
	page, err := e.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 {
		t.Errorf("%d sessions were begun, %v", len(page.Headers), err)
	}
}

// A call that is given up while it waits leaves its place to the next.
func TestEnterCancelled(t *testing.T) {
	f := NewScopes(sequent.New(sequent.Config{}), "d")
	c := tool.Caller{Scope: tool.Scope{Name: "a"}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	first, err := f.Enter(ctx, c) // without waiting
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Enter(ctx, c); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("the call that waits: %v", err)
	}
	first.Leave()
	for _, enter := range []func() (*Turn, error){
		func() (*Turn, error) { return f.Enter(t.Context(), c) },
		func() (*Turn, error) { return f.EnterSession(t.Context(), c, "a") },
	} {
		turn, err := enter()
		if err != nil {
			t.Fatal(err)
		}
		defer turn.Leave()
	}
	if len(f.places) != 2 {
		t.Errorf("%d places are remembered, want 2", len(f.places))
	}
}

func TestBegin(t *testing.T) {
	e := sequent.New(sequent.Config{})
	for _, id := range []sequent.ID{"a", "b"} {
		if _, err := e.Begin(t.Context(), id, func(*sequent.Change) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	next := 'a'
	s, err := Begin(t.Context(), e, func() (sequent.ID, error) {
		next++
		return sequent.ID(next - 1), nil
	}, func(*sequent.Change) error { return nil })
	if err != nil || s.ID() != "c" {
		t.Errorf("Begin = %v, %v, want the session c", s, err)
	}
	_, err = Begin(t.Context(), e, func() (sequent.ID, error) { return "a", nil }, func(*sequent.Change) error { return nil })
	if got := sequent.CodeOf(err); got != sequent.CodeConflict {
		t.Errorf("Begin with one id, which is taken: %v, want %s", err, sequent.CodeConflict)
	}
	broken := errors.New("broken")
	if _, err := Begin(t.Context(), e, func() (sequent.ID, error) { return "", broken }, nil); !errors.Is(err, broken) {
		t.Errorf("Begin without an id: %v, want %v", err, broken)
	}
}

// A process that was started later in the same project finds a session by the request
// that began it.
func TestRepeated(t *testing.T) {
	e := sequent.New(sequent.Config{})
	in := func(scope, project string) tool.Caller {
		return tool.Caller{Scope: tool.Scope{Name: scope, Project: project, Exclusive: project != ""}}
	}
	r := sequent.Request{Key: "k", Digest: "d"}
	enter := func(f *Scopes, c tool.Caller) *Turn {
		turn, err := f.Enter(t.Context(), c)
		if errors.Is(err, ErrScopeRequired) {
			return f.Alone(c)
		}
		return turn
	}
	begin := func(dialect string, c tool.Caller, id sequent.ID) {
		newID := func() (sequent.ID, error) { return id, nil }
		one := func(change *sequent.Change) error {
			_, err := change.Append(sequent.Draft{Text: "one", Request: r, Final: true})
			return err
		}
		turn := enter(NewScopes(e, dialect), c)
		defer turn.Leave()
		if _, err := turn.Record(t.Context(), newID, one); err != nil {
			t.Fatal(err)
		}
	}
	begin("d", in("1", "p"), "project")
	begin("d", in("web", ""), "web")
	begin("d", tool.Caller{}, "none")
	begin("other", in("1", "p"), "dialect")
	for _, test := range []struct {
		caller  tool.Caller
		request sequent.Request
		want    sequent.ID
	}{
		{in("2", "p"), r, "project"},
		{in("2", "q"), r, ""},
		{in("2", ""), r, ""},
		{in("web", ""), r, "web"},
		{tool.Caller{}, r, "none"},
		{tool.Caller{Owner: "alice"}, r, ""},
		{in("2", "p"), sequent.Request{Key: "k", Digest: "e"}, ""},
		{in("2", "p"), sequent.Request{}, ""},
	} {
		turn := enter(NewScopes(e, "d"), test.caller)
		turn.Request, turn.Begins = test.request, true
		refused := errors.New("begins another")
		var got sequent.ID
		_, err := turn.Record(t.Context(), func() (sequent.ID, error) { return "", refused }, func(c *sequent.Change) error {
			got = c.Session().ID()
			return nil
		})
		if (err == nil) != (test.want != "") || test.want != "" && got != test.want {
			t.Errorf("%+v in %+v: changes %q, %v, want %q", test.request, test.caller, got, err, test.want)
		}
		turn.Leave()
	}
}

package scope

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// call does what a dialect does: continue the scope's session, or begin one.
func call(t *testing.T, f *Finder, e *sequent.Engine, c tool.Caller, fresh string) sequent.ID {
	t.Helper()
	turn, err := f.Enter(c)
	if err != nil {
		t.Fatal(err)
	}
	defer turn.Leave()
	id, err := turn.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if id != "" && fresh == "" {
		return id
	}
	if id == "" && fresh == "" {
		fresh = "first-" + c.Scope.Name
	}
	id = sequent.ID(fresh)
	if _, err := e.Owned(c.Owner).Begin(t.Context(), id, func(c *sequent.Change) error {
		turn.Begin(c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	turn.Began(id)
	return id
}

func TestScopes(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		t.Run(fmt.Sprint("exclusive=", exclusive), func(t *testing.T) {
			e := sequent.New(sequent.Config{})
			f := New(e, "d")
			in := func(owner, scope string) tool.Caller {
				return tool.Caller{Owner: owner, Scope: tool.Scope{Name: scope, Exclusive: exclusive}}
			}
			if _, err := f.Enter(tool.Caller{}); !errors.Is(err, ErrRequired) {
				t.Errorf("no scope: %v", err)
			}
			if got := call(t, f, e, in("", "a"), ""); got != "first-a" {
				t.Errorf("the scope's first session is %q", got)
			}
			if got := call(t, f, e, in("", "b"), ""); got != "first-b" {
				t.Errorf("another scope's first session is %q", got)
			}
			if got := call(t, f, e, in("alice", "a"), ""); got != "first-a" {
				t.Errorf("the same scope of another owner begins %q", got)
			}
			call(t, f, e, in("", "a"), "second-a")
			if got := call(t, f, e, in("", "a"), ""); got != "second-a" {
				t.Errorf("the session begun last is %q", got)
			}
			if got := call(t, f, e, in("alice", "a"), ""); got != "first-a" {
				t.Errorf("alice's session is %q", got)
			}
			if want := map[bool]int{true: 3, false: 0}[exclusive]; len(f.scopes) != want {
				t.Errorf("%d scopes are remembered, want %d", len(f.scopes), want)
			}
		})
	}
}

func TestOneCallAtATimeBeginsAScope(t *testing.T) {
	e := sequent.New(sequent.Config{})
	f := New(e, "d")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { call(t, f, e, tool.Caller{Scope: tool.Scope{Name: "a"}}, "") })
	}
	wg.Wait()
	page, err := e.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 {
		t.Errorf("%d sessions were begun, %v", len(page.Headers), err)
	}
}

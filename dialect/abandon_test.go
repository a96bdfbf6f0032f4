package dialect

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// A gate is a store that runs a function between the begin of a scope's next session
// and the mark of the one that was left.
type gate struct {
	sequent.Store
	mu     sync.Mutex // guards onNext
	onNext func(sequent.Store) error
}

func (g *gate) Commit(ctx context.Context, batch []*sequent.Write) error {
	if err := g.Store.Commit(ctx, batch); err != nil {
		return err
	}
	g.mu.Lock()
	onNext := g.onNext
	if batch[0].Header.ID == "next" {
		g.onNext = nil
	} else {
		onNext = nil
	}
	g.mu.Unlock()
	if onNext == nil {
		return nil
	}
	return onNext(g.Store)
}

func TestAbandon(t *testing.T) {
	thought := func(more bool) func(*sequent.Change) error {
		return func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Text: "t", Final: !more})
			return err
		}
	}
	update := func(change func(*sequent.Change) error) func(sequent.Store) error {
		return func(s sequent.Store) error {
			_, err := sequent.New(sequent.Config{Store: s}).Update(context.Background(), "left", change)
			return err
		}
	}
	for _, test := range []struct {
		name    string
		first   func(*sequent.Change) error
		between func(sequent.Store) error // by another process
		fails   bool                      // the next session cannot begin
		want    sequent.State             // empty if the session was deleted
	}{
		{name: "open", first: thought(true), want: sequent.Abandoned},
		{name: "completed", first: thought(false), want: sequent.Completed},
		{name: "cancelled", first: func(c *sequent.Change) error {
			err := thought(true)(c)
			c.SetState(sequent.Cancelled)
			return err
		}, want: sequent.Cancelled},
		{name: "completed meanwhile", first: thought(true), between: update(thought(false)), want: sequent.Completed},
		{name: "continued meanwhile", first: thought(true), between: update(thought(true)), want: sequent.Active},
		{name: "retitled meanwhile", first: thought(true), between: update(func(c *sequent.Change) error {
			c.SetTitle("other")
			return nil
		}), want: sequent.Abandoned},
		{name: "deleted meanwhile", first: thought(true), between: func(s sequent.Store) error {
			return s.Delete(context.Background(), sequent.Key{ID: "left"}, 0)
		}},
		{name: "refused", first: thought(true), fails: true, want: sequent.Active},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu sync.Mutex
			now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
			store := &gate{Store: sequent.NewMemoryStore(), onNext: test.between}
			e := sequent.New(sequent.Config{Store: store, Now: func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				now = now.Add(time.Second)
				return now
			}})
			turn, err := NewScopes(e, "d").Enter(t.Context(), tool.Caller{Scope: tool.Scope{Name: "a"}})
			if err != nil {
				t.Fatal(err)
			}
			defer turn.Leave()
			record := func(id sequent.ID, change func(*sequent.Change) error) (*sequent.Session, error) {
				return turn.Record(t.Context(), func() (sequent.ID, error) { return id, nil }, change)
			}
			if _, err := record("left", test.first); err != nil {
				t.Fatal(err)
			}
			refused := errors.New("refused")
			turn.Begins = true
			s, err := record("next", func(c *sequent.Change) error {
				if test.fails {
					return refused
				}
				return thought(true)(c)
			})
			if test.fails != errors.Is(err, refused) || !test.fails && (err != nil || s.ID() != "next" || s.Len() != 1) {
				t.Fatalf("the next session is %v, %v", s, err)
			}
			left, err := e.Session(t.Context(), "left")
			switch {
			case test.want == "":
				if !errors.Is(err, sequent.ErrNotFound) {
					t.Errorf("the deleted session is %v, %v", left, err)
				}
			case err != nil:
				t.Error(err)
			case left.State() != test.want:
				t.Errorf("the session that was left is %s, want %s", left.State(), test.want)
			}
			page, err := e.Sessions(t.Context(), sequent.Query{})
			if err != nil || test.between == nil && !test.fails && page.Headers[0].ID != "next" {
				t.Errorf("the sessions are %+v, %v, want the next one first", page.Headers, err)
			}
			h, log, err := e.Entries(t.Context(), "left", sequent.Position{})
			if v := sequent.Verify(h, log); test.want != "" && (err != nil || v.Fault != nil) {
				t.Errorf("the log of the session that was left: %+v, %v", v, err)
			}
		})
	}
}

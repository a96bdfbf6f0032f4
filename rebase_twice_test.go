package sequent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A repeatingStore calls Rebase twice, as a store does whose transaction fails after the
// first call and is repeated.
type repeatingStore struct{ sequent.Store }

func (s *repeatingStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	for _, w := range batch {
		rebase := w.Rebase
		w.Rebase = func(now sequent.Header, tail []sequent.Entry) bool {
			rebase(now, tail)
			return rebase(now, tail)
		}
	}
	return s.Store.Commit(ctx, batch)
}

// A change that has nothing to write for the session's current state, such as a repeated call,
// succeeds also if the store asks again.
func TestRebaseTwice(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	one, two := sequent.New(sequent.Config{Store: &repeatingStore{store}}), sequent.New(sequent.Config{Store: store})
	add := func(e *sequent.Engine, only int) error {
		_, err := e.Ensure(t.Context(), "a", func(c *sequent.Change) error {
			if c.Session().Len() > only {
				return nil
			}
			_, err := c.Append(sequent.Draft{Text: "text"})
			return err
		})
		return err
	}
	if err := errors.Join(add(one, 0), add(two, 1)); err != nil {
		t.Fatal(err)
	}
	if err := add(one, 1); err != nil {
		t.Errorf("the change of the engine with the older state: %v", err)
	}
	if s, err := two.Session(t.Context(), "a"); err != nil || s.Len() != 2 {
		t.Errorf("Session = %v, %v, want 2 thoughts", s, err)
	}
}

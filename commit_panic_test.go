package sequent_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A panickingStore panics in its next Commit if panics is set.
type panickingStore struct {
	sequent.Store
	panics atomic.Bool
}

func (s *panickingStore) Commit(ctx context.Context, batch []*sequent.Write) error {
	if s.panics.Swap(false) {
		panic("broken index")
	}
	return s.Store.Commit(ctx, batch)
}

// A panic inside Store.Commit fails its batch and no later one.
func TestPanicInCommit(t *testing.T) {
	store := &panickingStore{Store: sequent.NewMemoryStore()}
	e := sequent.New(sequent.Config{Store: store})
	add := func() error {
		_, err := e.Ensure(t.Context(), "a", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Text: "one"})
			return err
		})
		return err
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	store.panics.Store(true)
	err := add()
	if sequent.CodeOf(err) != sequent.CodeInternal || !strings.Contains(err.Error(), "broken index") || !strings.Contains(err.Error(), "may or may not") || !sequent.IsUncertain(err) {
		t.Errorf("Ensure with a panic in the store = %v, want the code %s, the cause and that the outcome is unknown", err, sequent.CodeInternal)
	}
	for range 2 {
		if err := add(); err != nil {
			t.Fatalf("Ensure after the panic: %v", err)
		}
	}
	if s, err := e.Session(t.Context(), "a"); err != nil || s.Len() != 3 {
		t.Errorf("Session = %v, %v, want 3 thoughts", s, err)
	}
}

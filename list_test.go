package sequent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// A failingList is a store whose listings fail from the second page on.
type failingList struct{ sequent.Store }

func (f failingList) List(ctx context.Context, q sequent.Query) (sequent.Page, error) {
	if q.Cursor != "" {
		return sequent.Page{}, errors.New("no second page")
	}
	return f.Store.List(ctx, q)
}

func TestAllSessions(t *testing.T) {
	store := sequent.NewMemoryStore()
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { // that of Windows gives several sessions one time
		now = now.Add(time.Second)
		return now
	}
	e := sequent.New(sequent.Config{Store: store, Now: clock})
	for i := range 5 {
		if _, err := e.Begin(t.Context(), sequent.ID(fmt.Sprint(i)), func(*sequent.Change) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	read := func(e *sequent.Engine, q sequent.Query, most int) (ids string, failed error) {
		for h, err := range e.AllSessions(t.Context(), q) {
			if err != nil {
				failed = err
				continue // an error is the last value
			}
			if ids += string(h.ID); len(ids) == most {
				break
			}
		}
		return ids, failed
	}
	for _, limit := range []int{0, 1, 2, 5, 6} {
		if ids, err := read(e, sequent.Query{Limit: limit, ByCreated: true}, 9); ids != "43210" || err != nil {
			t.Errorf("pages of %d: got %q, %v", limit, ids, err)
		}
	}
	if ids, err := read(e, sequent.Query{Limit: 2, ByCreated: true}, 3); ids != "432" || err != nil {
		t.Errorf("stopped early: got %q, %v", ids, err)
	}
	failing := sequent.New(sequent.Config{Store: failingList{store}})
	if ids, err := read(failing, sequent.Query{Limit: 2, ByCreated: true}, 9); ids != "43" || err == nil {
		t.Errorf("with an error: got %q, %v", ids, err)
	}
}

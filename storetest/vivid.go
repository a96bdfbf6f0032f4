package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// Vivid records a session of which most fields have a value, for tests that change each column of
// a store beside it. Its last thought is a revision, and an entry for the header follows.
func Vivid(t *testing.T, s sequent.Store) sequent.Key {
	t.Helper()
	k := sequent.Key{Owner: "ann", ID: "s"}
	e := sequent.New(sequent.Config{Store: s, TTL: time.Hour}).Owned(k.Owner)
	ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin {
		return sequent.Origin{Client: "editor", Project: "/project", Commit: "abc"}
	})
	_, err := e.Begin(ctx, k.ID, func(c *sequent.Change) error {
		c.BeginIn("scope", "any")
		c.SetLabel("colour", "red")
		c.Conclude("done")
		for i := range 4 {
			d := sequent.Draft{
				Number: i + 1, Total: 4, Text: fmt.Sprint("heron ", i), Note: "note", Final: i == 3, Extend: true,
				Request: sequent.Request{Key: fmt.Sprint("key", i), Digest: "digest"}, Labels: map[string]string{"a": "b"},
			}
			if i == 2 {
				d.Branch, d.From = "side", sequent.To(1)
			}
			if i == 3 {
				d.Revises, d.Revision = sequent.To(2), true
			}
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Flips executes statements on the tables of a store with one session, each in a transaction that
// it rolls back. It returns the columns, by statement in flips, whose changes are neither refused
// nor a fault of the session, and fails the test if such a change shows.
func Flips(t *testing.T, flips map[string]string, exec func(text string) error, refused func(error) bool, load func() (sequent.Header, []sequent.Entry, error)) []string {
	t.Helper()
	show := func() string {
		h, log, err := load()
		switch {
		case errors.Is(err, sequent.ErrNotFound):
			return "gone"
		case err != nil:
			t.Fatal(err)
		case sequent.Verify(h, log).Fault != nil:
			return "a fault"
		}
		return fmt.Sprintf("%+v %+v", h, log)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	before, hidden := show(), make(map[string]bool)
	for text, column := range flips {
		must(exec("BEGIN"))
		if err := exec(text); err != nil {
			if !refused(err) {
				t.Errorf("%s: %v", text, err)
			}
		} else if after := show(); after != "gone" && after != "a fault" {
			hidden[column] = true
			if after != before {
				t.Errorf("%s is no fault, and shows\n%s\ninstead of\n%s", text, after, before)
			}
		}
		must(exec("ROLLBACK"))
	}
	return slices.Sorted(maps.Keys(hidden))
}

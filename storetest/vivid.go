package storetest

import (
	"fmt"
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
